//! Operations of the file system: each calls `HDFS` and replies.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FopenFlags, Generation, INodeNo, OpenAccMode, OpenFlags,
    RenameFlags, ReplyAttr, ReplyCreate, ReplyEmpty, ReplyEntry, ReplyOpen, TimeOrNow,
};
use hdfs_native::client::FileStatus;
use hdfs_native::{Client, HdfsError, WriteOptions};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::attributes::{attributes, error_number, report};
use crate::file_inode::FileInode;
use crate::growing_files::GrowingFiles;
use crate::inodes::Inodes;
use crate::open_file::{FileRequest, OpenFile};
use crate::options::Options;
use crate::settings::Settings;
use crate::statistics::Statistics;
use crate::written_file::WrittenFile;

/// What the kernel refers to by a handle.
enum Opened {
    File(UnboundedSender<FileRequest>),
    Directory(Arc<Vec<FileStatus>>),
}

/// What `setTimes` of the `NameNode` takes for a time that stays: -1.
const UNCHANGED_TIME: u64 = u64::MAX;

/// Changes of attributes that HDFS can make; none is a file's present value.
#[derive(Debug)]
pub struct AttributeChanges {
    pub mode: Option<u32>,
    pub size: Option<u64>,
    pub accessed: Option<TimeOrNow>,
    pub modified: Option<TimeOrNow>,
}

/// The operations on a directory of HDFS, and what the kernel knows of it.
pub struct Operations {
    client: Client,
    writable: bool,
    new_files: WriteOptions,
    statistics: Arc<Statistics>,
    growing: Arc<GrowingFiles>,
    settings: Mutex<Settings>,
    inodes: Arc<Mutex<Inodes>>,
    handles: Mutex<HashMap<u64, Opened>>,
    last_handle: AtomicU64,
}

impl Operations {
    /// The operations below the path of the options.
    pub fn new(client: Client, options: &Options) -> Self {
        let new_files = WriteOptions {
            replication: options.replication,
            block_size: options.block_size,
            create_parent: false,
            ..WriteOptions::default()
        };
        Self {
            client,
            writable: options.writable,
            new_files,
            statistics: Arc::default(),
            growing: Arc::default(),
            settings: Mutex::new(Settings {
                rdbuffer: options.rdbuffer,
                attribute_timeout: Duration::from_secs_f64(options.attribute_timeout),
                entry_timeout: Duration::from_secs_f64(options.entry_timeout),
            }),
            inodes: Arc::new(Mutex::new(Inodes::new(&options.path))),
            handles: Mutex::default(),
            last_handle: AtomicU64::new(0),
        }
    }

    /// Whether files can be changed.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// The paths that the kernel knows.
    pub fn inodes(&self) -> MutexGuard<'_, Inodes> {
        lock(&self.inodes)
    }

    /// The settings that can be changed.
    pub fn settings(&self) -> MutexGuard<'_, Settings> {
        lock(&self.settings)
    }

    /// The counters of the mount.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Hand a request over to the open file of a handle.
    ///
    /// Without such a file, and after the end of its task, the drop of the request replies EIO.
    pub fn send(&self, handle: FileHandle, request: FileRequest) {
        if let Some(Opened::File(requests)) = lock(&self.handles).get(&handle.0) {
            drop(requests.send(request));
        }
    }

    /// Forget a handle.
    pub fn release(&self, handle: FileHandle) {
        lock(&self.handles).remove(&handle.0);
    }

    pub async fn look_up(&self, path: &str, reply: ReplyEntry) {
        match self.status(path).await {
            Ok(status) => self.reply_entry(path, &status, reply),
            Err(error) => reply.error(error_number(&error)),
        }
    }

    pub async fn get_attributes(&self, inode: INodeNo, path: &str, reply: ReplyAttr) {
        let timeout = self.settings().attribute_timeout;
        match self.status(path).await {
            Ok(status) => reply.attr(&timeout, &self.attributes(inode.0, &status)),
            Err(error) => reply.error(error_number(&error)),
        }
    }

    pub async fn set_attributes(
        &self,
        inode: INodeNo,
        path: &str,
        changes: AttributeChanges,
        reply: ReplyAttr,
    ) {
        match self.change(path, changes).await {
            Ok(()) => self.get_attributes(inode, path, reply).await,
            Err(number) => reply.error(number),
        }
    }

    pub async fn open_file(&self, inode: INodeNo, path: &str, flags: OpenFlags, reply: ReplyOpen) {
        let client = self.client.clone();
        let own = self.file_inode(inode.0);
        if flags.acc_mode() != OpenAccMode::O_RDONLY {
            let file = WrittenFile::existing(client, own);
            let (handle, requests) = self.new_file();
            reply.opened(handle, FopenFlags::empty());
            return Box::pin(file.serve(requests)).await;
        }
        let buffer_bytes = self.settings().rdbuffer;
        let statistics = Arc::clone(&self.statistics);
        match OpenFile::open(client, path, own, buffer_bytes, statistics).await {
            Ok(file) => {
                let (handle, requests) = self.new_file();
                reply.opened(handle, FopenFlags::empty());
                file.serve(requests).await;
            }
            Err(error) => reply.error(report(path, &error)),
        }
    }

    pub async fn create_file(&self, path: &str, mode: u32, reply: ReplyCreate) {
        let options = self.new_files.clone().permission(mode);
        let mut writer = match Box::pin(self.client.create(path, options)).await {
            Ok(writer) => writer,
            Err(error) => return reply.error(report(path, &error)),
        };
        let status = match self.client.get_file_info(path).await {
            Ok(status) => status,
            Err(error) => {
                if let Err(error) = Box::pin(writer.close()).await {
                    report(path, &error);
                }
                return reply.error(report(path, &error));
            }
        };
        let inode = self.inodes().look_up(path);
        let own = self.file_inode(inode);
        let file = WrittenFile::created(self.client.clone(), own, path, writer);
        let (handle, requests) = self.new_file();
        let found = self.attributes(inode, &status);
        let timeout = self.shortest_timeout();
        let flags = FopenFlags::empty();
        reply.created(&timeout, &found, Generation(0), handle, flags);
        Box::pin(file.serve(requests)).await;
    }

    pub async fn make_directory(&self, path: &str, mode: u32, reply: ReplyEntry) {
        match self.client.mkdirs(path, mode, false).await {
            Ok(()) => self.look_up(path, reply).await,
            Err(error) => reply.error(report(path, &error)),
        }
    }

    /// Remove a file, or an empty directory.
    pub async fn remove(&self, path: &str, is_directory: bool, reply: ReplyEmpty) {
        match self.remove_only(path, is_directory).await {
            Ok(()) => reply.ok(),
            Err(number) => reply.error(number),
        }
    }

    pub async fn rename(&self, from: &str, to: &str, flags: RenameFlags, reply: ReplyEmpty) {
        if !(flags - RenameFlags::RENAME_NOREPLACE).is_empty() {
            return reply.error(Errno::EINVAL);
        }
        let replaces = !flags.contains(RenameFlags::RENAME_NOREPLACE);
        match self.client.rename(from, to, replaces).await {
            Ok(()) => {
                self.inodes().rename(from, to);
                reply.ok();
            }
            Err(error) => reply.error(report(from, &error)),
        }
    }

    pub async fn open_directory(&self, path: &str, reply: ReplyOpen) {
        match self.client.list_status(path, false).await {
            Ok(entries) => {
                let handle = self.keep(Opened::Directory(Arc::new(entries)));
                reply.opened(handle, FopenFlags::empty());
            }
            Err(error) => reply.error(error_number(&error)),
        }
    }

    /// The entries of an open directory.
    pub fn listed(&self, handle: FileHandle) -> Option<Arc<Vec<FileStatus>>> {
        match lock(&self.handles).get(&handle.0) {
            Some(Opened::Directory(entries)) => Some(Arc::clone(entries)),
            _ => None,
        }
    }

    /// HDFS has one call for both, and would remove what another client put there.
    async fn remove_only(&self, path: &str, is_directory: bool) -> Result<(), Errno> {
        let failed = |error: HdfsError| report(path, &error);
        let status = self.client.get_file_info(path).await.map_err(failed)?;
        match (is_directory, status.isdir) {
            (true, false) => return Err(Errno::ENOTDIR),
            (false, true) => return Err(Errno::EISDIR),
            _ => {}
        }
        if !self.client.delete(path, false).await.map_err(failed)? {
            return Err(Errno::ENOENT);
        }
        self.inodes().detach(path);
        Ok(())
    }

    fn file_inode(&self, number: u64) -> FileInode {
        let inodes = Arc::clone(&self.inodes);
        FileInode::new(number, inodes, Arc::clone(&self.growing), self.writable)
    }

    /// The time for which both a name and its attributes may be kept.
    pub fn shortest_timeout(&self) -> Duration {
        let settings = self.settings();
        settings.attribute_timeout.min(settings.entry_timeout)
    }

    fn reply_entry(&self, path: &str, status: &FileStatus, reply: ReplyEntry) {
        let inode = self.inodes().look_up(path);
        let found = self.attributes(inode, status);
        let Settings {
            attribute_timeout,
            entry_timeout,
            ..
        } = *self.settings();
        reply.entry_with_ttls(&attribute_timeout, &entry_timeout, &found, Generation(0));
    }

    /// The attributes of a file or directory with that number.
    pub fn attributes(&self, inode: u64, status: &FileStatus) -> FileAttr {
        attributes(inode, status, self.writable)
    }

    /// The status of a file or directory, with the current length of a file that is being written.
    async fn status(&self, path: &str) -> Result<FileStatus, HdfsError> {
        // Before and after: the writer may end in between.
        let before = self.growing_length(path);
        let mut status = self.client.get_file_info(path).await?;
        if let Some(length) = before.max(self.growing_length(path)) {
            status.length = status
                .length
                .max(usize::try_from(length).unwrap_or(usize::MAX));
        }
        Ok(status)
    }

    fn growing_length(&self, path: &str) -> Option<u64> {
        let inode = self.inodes().number(path)?;
        self.growing.length(inode)
    }

    async fn change(&self, path: &str, changes: AttributeChanges) -> Result<(), Errno> {
        if let Some(size) = changes.size {
            self.truncate(path, size).await?;
        }
        let done = self.change_mode_and_times(path, changes).await;
        done.map_err(|error| report(path, &error))
    }

    async fn change_mode_and_times(
        &self,
        path: &str,
        changes: AttributeChanges,
    ) -> Result<(), HdfsError> {
        if let Some(mode) = changes.mode {
            self.client.set_permission(path, mode & 0o7777).await?;
        }
        if changes.accessed.is_some() || changes.modified.is_some() {
            let modified = milliseconds(changes.modified);
            let accessed = milliseconds(changes.accessed);
            self.client.set_times(path, modified, accessed).await?;
        }
        Ok(())
    }

    /// Empty a file that this mount does not write, by a new one in its place.
    ///
    /// HDFS has no other truncation that is done at once.
    async fn truncate(&self, path: &str, size: u64) -> Result<(), Errno> {
        let failed = |error: HdfsError| report(path, &error);
        let status = self.status(path).await.map_err(failed)?;
        if size == status.length as u64 {
            return Ok(());
        }
        if size != 0 || self.growing_length(path).is_some() {
            return Err(Errno::EOPNOTSUPP);
        }
        let options = WriteOptions {
            block_size: status.blocksize,
            replication: status.replication,
            permission: u32::from(status.permission),
            overwrite: true,
            create_parent: false,
        };
        let mut writer = self.client.create(path, options).await.map_err(failed)?;
        Box::pin(writer.close()).await.map_err(failed)
    }

    fn new_file(&self) -> (FileHandle, UnboundedReceiver<FileRequest>) {
        let (sender, requests) = unbounded_channel();
        (self.keep(Opened::File(sender)), requests)
    }

    fn keep(&self, opened: Opened) -> FileHandle {
        let handle = self.last_handle.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.handles).insert(handle, opened);
        FileHandle(handle)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Times of HDFS are milliseconds.
fn milliseconds(wanted: Option<TimeOrNow>) -> u64 {
    let time = match wanted {
        None => return UNCHANGED_TIME,
        Some(TimeOrNow::Now) => SystemTime::now(),
        Some(TimeOrNow::SpecificTime(time)) => time,
    };
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
