//! A file that is open for writing: `HDFS` appends, so each write begins where the file ends.

use std::sync::Arc;

use bytes::Bytes;
use fuser::{Errno, ReplyEmpty};
use hdfs_native::file::FileWriter;
use hdfs_native::{Client, HdfsError};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::attributes::report;
use crate::file_inode::FileInode;
use crate::growing_files::GrowingLength;
use crate::open_file::FileRequest;

/// A writer with the length of the file.
struct Appender {
    writer: FileWriter,
    length: GrowingLength,
    path: Arc<str>,
}

/// A file that one handle writes. Its first write opens the file for appending.
///
/// After a failed write all others fail, because the bytes that arrived are unknown.
pub struct WrittenFile {
    client: Client,
    inode: FileInode,
    appender: Option<Appender>,
    has_failed: bool,
}

impl WrittenFile {
    /// A file that exists.
    pub fn existing(client: Client, inode: FileInode) -> Self {
        Self {
            client,
            inode,
            appender: None,
            has_failed: false,
        }
    }

    /// An empty file that `writer` has created.
    pub fn created(client: Client, inode: FileInode, path: &str, writer: FileWriter) -> Self {
        let length = inode.begin_growth(0);
        let path = path.into();
        Self {
            appender: Some(Appender {
                writer,
                length,
                path,
            }),
            ..Self::existing(client, inode)
        }
    }

    /// Serve requests until the handle is released.
    pub async fn serve(mut self, mut requests: UnboundedReceiver<FileRequest>) {
        while let Some(request) = requests.recv().await {
            match request {
                FileRequest::Read { reply, .. } => reply.error(Errno::EOPNOTSUPP),
                FileRequest::Write {
                    offset,
                    data,
                    reply,
                } => {
                    let count = u32::try_from(data.len()).unwrap_or(u32::MAX);
                    match self.write(offset, data).await {
                        Ok(()) => reply.written(count),
                        Err(number) => reply.error(number),
                    }
                }
                FileRequest::Sync(reply) => answer(reply, self.sync().await),
                FileRequest::Flush(reply) => answer(reply, self.complete().await),
            }
        }
        // Every close(2) has completed it already, unless the server itself is ending.
        let _ = self.complete().await;
    }

    async fn write(&mut self, offset: u64, data: Bytes) -> Result<(), Errno> {
        self.require_no_failure()?;
        let is_new = self.appender.is_none();
        let appender = match self.appender.take() {
            Some(appender) => appender,
            None => self.append().await?,
        };
        let appender = self.appender.insert(appender);
        if offset != appender.length.get() {
            if is_new {
                self.complete().await?;
            }
            return Err(Errno::EOPNOTSUPP);
        }
        let count = data.len() as u64;
        if let Err(error) = Box::pin(appender.writer.write_bytes(data)).await {
            self.has_failed = true;
            return Err(report(&appender.path, &error));
        }
        appender.length.add(count);
        Ok(())
    }

    /// Open the file for appending. Then nobody else can write it, so its length is final.
    async fn append(&self) -> Result<Appender, Errno> {
        let path = self.inode.path().ok_or(Errno::ESTALE)?;
        let failed = |error: HdfsError| report(&path, &error);
        let mut writer = match self.client.append(&path).await {
            // What the client makes of AlreadyBeingCreatedException.
            Err(HdfsError::AlreadyExists(_)) => return Err(Errno::EBUSY),
            opened => opened.map_err(failed)?,
        };
        match self.client.get_file_info(&path).await {
            Ok(status) => Ok(Appender {
                writer,
                length: self.inode.begin_growth(status.length as u64),
                path,
            }),
            Err(error) => {
                Box::pin(writer.close()).await.map_err(failed)?;
                Err(failed(error))
            }
        }
    }

    /// Let all `DataNodes` write to their disks what this handle has written.
    async fn sync(&mut self) -> Result<(), Errno> {
        self.require_no_failure()?;
        let Some(appender) = &mut self.appender else {
            return Ok(());
        };
        match Box::pin(appender.writer.hsync()).await {
            Ok(()) => Ok(()),
            Err(error) => {
                // Files with erasure coding cannot be synced while they are open.
                self.has_failed = !matches!(error, HdfsError::UnsupportedFeature(_));
                Err(report(&appender.path, &error))
            }
        }
    }

    /// End the writer, so that other readers see the whole file; a later write appends to it.
    async fn complete(&mut self) -> Result<(), Errno> {
        let Some(mut appender) = self.appender.take() else {
            return self.require_no_failure();
        };
        let closed = Box::pin(appender.writer.close()).await;
        self.inode.end_growth(&appender.length);
        if let Err(error) = closed {
            self.has_failed = true;
            self.recover(&appender.path).await;
            return Err(report(&appender.path, &error));
        }
        self.require_no_failure()
    }

    /// Let the `NameNode` end a file that could not be closed: this client renews its lease.
    async fn recover(&self, path: &str) {
        if let Err(error) = self.client.recover_lease(path).await {
            report(path, &error);
        }
    }

    fn require_no_failure(&self) -> Result<(), Errno> {
        if self.has_failed {
            Err(Errno::EIO)
        } else {
            Ok(())
        }
    }
}

fn answer(reply: ReplyEmpty, result: Result<(), Errno>) {
    match result {
        Ok(()) => reply.ok(),
        Err(number) => reply.error(number),
    }
}
