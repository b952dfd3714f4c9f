//! An open file: it serves the requests of its handle in their order.

use std::sync::Arc;

use bytes::Bytes;
use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};
use hdfs_native::client::FileStatus;
use hdfs_native::file::FileReader;
use hdfs_native::{Client, HdfsError};
use log::warn;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::attributes::report;
use crate::file_inode::FileInode;
use crate::reader::Reader;
use crate::statistics::{Statistics, add};

/// A request of the kernel on an open file.
pub enum FileRequest {
    /// Read `size` bytes from `offset` on.
    Read {
        offset: u64,
        size: u32,
        reply: ReplyData,
    },
    /// Write `data` at `offset`.
    Write {
        offset: u64,
        data: Bytes,
        reply: ReplyWrite,
    },
    /// A descriptor of the file was closed.
    Flush(ReplyEmpty),
    /// Make what was written durable.
    Sync(ReplyEmpty),
}

/// A file that is open for reading, with its reader.
pub struct OpenFile {
    client: Client,
    inode: FileInode,
    status: FileStatus,
    reader: Reader<FileReader>,
    buffer_bytes: usize,
    statistics: Arc<Statistics>,
}

impl OpenFile {
    /// Open the file of that path.
    ///
    /// # Errors
    ///
    /// It is no file, or HDFS refuses.
    pub async fn open(
        client: Client,
        path: &str,
        inode: FileInode,
        buffer_bytes: usize,
        statistics: Arc<Statistics>,
    ) -> Result<Self, HdfsError> {
        let status = client.get_file_info(path).await?;
        let source = client.read(path).await?;
        let reader = Reader::new(source, buffer_bytes, Arc::clone(&statistics));
        Ok(Self {
            client,
            inode,
            status,
            reader,
            buffer_bytes,
            statistics,
        })
    }

    /// Serve requests until the file is closed.
    pub async fn serve(mut self, mut requests: UnboundedReceiver<FileRequest>) {
        while let Some(request) = requests.recv().await {
            match request {
                FileRequest::Read {
                    offset,
                    size,
                    reply,
                } => match self.read(offset, size).await {
                    Ok(bytes) => reply.data(bytes),
                    Err(number) => reply.error(number),
                },
                FileRequest::Write { reply, .. } => reply.error(Errno::EBADF),
                FileRequest::Flush(reply) | FileRequest::Sync(reply) => reply.ok(),
            }
        }
    }

    async fn read(&mut self, offset: u64, size: u32) -> Result<&[u8], Errno> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let size = size as usize;
        if offset.saturating_add(size) > self.reader.length() {
            self.follow_growth().await?;
        }
        if let Err(error) = self.receive(offset, size).await {
            return Err(report(&self.status.path, &error));
        }
        let bytes = self.reader.bytes(offset, size);
        add(&self.statistics.requests, 1);
        add(&self.statistics.bytes, bytes.len());
        add(
            &self.statistics.bypassed,
            usize::from(size >= self.buffer_bytes),
        );
        Ok(bytes)
    }

    async fn receive(&mut self, offset: usize, size: usize) -> Result<(), HdfsError> {
        if let Err(error) = self.reader.receive(offset, size).await {
            warn!("{}: {error}; opened again", self.status.path);
            self.reopen().await?;
            self.reader.receive(offset, size).await?;
        }
        Ok(())
    }

    /// Open a file again that this mount has appended to.
    ///
    /// The kernel knows its new length, and would take a short reply for the end of the file. While
    /// the file is written, its end cannot be read: EBUSY.
    async fn follow_growth(&mut self) -> Result<(), Errno> {
        let length = self.reader.length() as u64;
        if self.inode.growing_length().is_some_and(|now| now > length) {
            return Err(Errno::EBUSY);
        }
        let Some(path) = self.inode.path().filter(|_| self.inode.is_writable()) else {
            return Ok(());
        };
        let failed = |error: HdfsError| report(&path, &error);
        let status = self.client.get_file_info(&path).await.map_err(failed)?;
        if status.length as u64 > length {
            let source = self.client.read(&path).await.map_err(failed)?;
            self.reader = Reader::new(source, self.buffer_bytes, Arc::clone(&self.statistics));
            self.status = status;
        }
        Ok(())
    }

    /// Find the blocks of the file again: since its opening, replicas may have moved or come back.
    async fn reopen(&mut self) -> Result<(), HdfsError> {
        let found = self.client.get_file_info(&self.status.path).await?;
        let version = |status: &FileStatus| (status.length, status.modification_time);
        if version(&found) != version(&self.status) {
            let reason = "the file has changed since it was opened".to_string();
            return Err(HdfsError::OperationFailed(reason));
        }
        add(&self.statistics.reopened, 1);
        let source = self.client.read(&self.status.path).await?;
        self.reader.replace_source(source);
        Ok(())
    }
}
