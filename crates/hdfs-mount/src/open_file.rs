//! An open file: it serves the requests of its handle in their order.

use std::sync::Arc;

use fuser::ReplyData;
use hdfs_native::client::FileStatus;
use hdfs_native::file::FileReader;
use hdfs_native::{Client, HdfsError, Result};
use log::warn;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::attributes::error_number;
use crate::reader::Reader;
use crate::statistics::{Statistics, add};

/// A read request of the kernel.
pub struct ReadRequest {
    /// Position in the file.
    pub offset: u64,
    /// Bytes that are wanted.
    pub size: u32,
    /// Where the bytes go.
    pub reply: ReplyData,
}

/// A file with its reader.
pub struct OpenFile {
    client: Client,
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
        buffer_bytes: usize,
        statistics: Arc<Statistics>,
    ) -> Result<Self> {
        let status = client.get_file_info(path).await?;
        let source = client.read(path).await?;
        let reader = Reader::new(source, buffer_bytes, Arc::clone(&statistics));
        Ok(Self {
            client,
            status,
            reader,
            buffer_bytes,
            statistics,
        })
    }

    /// Serve requests until the file is closed.
    pub async fn serve(mut self, mut requests: UnboundedReceiver<ReadRequest>) {
        while let Some(request) = requests.recv().await {
            match self.read(request.offset, request.size).await {
                Ok(bytes) => request.reply.data(bytes),
                Err(error) => {
                    warn!("{}: {error}", self.status.path);
                    request.reply.error(error_number(&error));
                }
            }
        }
    }

    async fn read(&mut self, offset: u64, size: u32) -> Result<&[u8]> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let size = size as usize;
        if let Err(error) = self.reader.receive(offset, size).await {
            warn!("{}: {error}; opened again", self.status.path);
            self.reopen().await?;
            self.reader.receive(offset, size).await?;
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

    /// Find the blocks of the file again: since its opening, replicas may have moved or come back.
    async fn reopen(&mut self) -> Result<()> {
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
