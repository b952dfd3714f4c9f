//! The FUSE file system: each request becomes a task of the runtime, which replies when it is done.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fuser::{
    Errno, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyXattr, Request,
};
use hdfs_native::Client;
use hdfs_native::client::FileStatus;
use log::warn;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::attributes::{attributes, error_number};
use crate::inodes::{Inodes, ROOT};
use crate::open_file::{OpenFile, ReadRequest};
use crate::options::Options;
use crate::statistics::Statistics;

/// Extended attribute of the mount point with the statistics, as JSON.
const STATISTICS: &str = "user.iostudy.statistics";

/// What the kernel refers to by a handle.
enum Handled {
    File(UnboundedSender<ReadRequest>),
    Directory(Arc<Vec<FileStatus>>),
}

struct Shared {
    client: Client,
    buffer_bytes: usize,
    attribute_timeout: Duration,
    entry_timeout: Duration,
    statistics: Arc<Statistics>,
    inodes: Mutex<Inodes>,
    handles: Mutex<HashMap<u64, Handled>>,
    last_handle: AtomicU64,
}

/// A directory of HDFS as a file system.
pub struct HdfsFilesystem {
    shared: Arc<Shared>,
    runtime: Handle,
}

impl HdfsFilesystem {
    /// The file system below the path of the options.
    pub fn new(client: Client, options: &Options, runtime: Handle) -> Self {
        let shared = Shared {
            client,
            buffer_bytes: options.rdbuffer,
            attribute_timeout: Duration::from_secs_f64(options.attribute_timeout),
            entry_timeout: Duration::from_secs_f64(options.entry_timeout),
            statistics: Arc::default(),
            inodes: Mutex::new(Inodes::new(&options.path)),
            handles: Mutex::default(),
            last_handle: AtomicU64::new(0),
        };
        Self {
            shared: Arc::new(shared),
            runtime,
        }
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, task: impl FnOnce(Arc<Shared>) -> F) {
        self.runtime.spawn(task(Arc::clone(&self.shared)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn path(&self, inode: INodeNo) -> Option<Arc<str>> {
        lock(&self.inodes).path(inode.0)
    }

    fn keep(&self, handled: Handled) -> FileHandle {
        let handle = self.last_handle.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.handles).insert(handle, handled);
        FileHandle(handle)
    }

    async fn look_up(&self, path: &str, reply: ReplyEntry) {
        match self.client.get_file_info(path).await {
            Ok(status) => {
                let inode = lock(&self.inodes).look_up(path);
                let found = attributes(inode, &status);
                let timeouts = (&self.attribute_timeout, &self.entry_timeout);
                reply.entry_with_ttls(timeouts.0, timeouts.1, &found, Generation(0));
            }
            Err(error) => reply.error(error_number(&error)),
        }
    }

    async fn get_attributes(&self, inode: INodeNo, path: &str, reply: ReplyAttr) {
        match self.client.get_file_info(path).await {
            Ok(status) => reply.attr(&self.attribute_timeout, &attributes(inode.0, &status)),
            Err(error) => reply.error(error_number(&error)),
        }
    }

    async fn open_file(&self, path: &str, reply: ReplyOpen) {
        let client = self.client.clone();
        let statistics = Arc::clone(&self.statistics);
        match OpenFile::open(client, path, self.buffer_bytes, statistics).await {
            Ok(file) => {
                let (sender, requests) = unbounded_channel();
                reply.opened(self.keep(Handled::File(sender)), FopenFlags::empty());
                file.serve(requests).await;
            }
            Err(error) => {
                warn!("{path}: {error}");
                reply.error(error_number(&error));
            }
        }
    }

    async fn open_directory(&self, path: &str, reply: ReplyOpen) {
        match self.client.list_status(path, false).await {
            Ok(entries) => {
                let handle = self.keep(Handled::Directory(Arc::new(entries)));
                reply.opened(handle, FopenFlags::empty());
            }
            Err(error) => reply.error(error_number(&error)),
        }
    }

    fn list(&self, entries: &[FileStatus], offset: usize, reply: &mut ReplyDirectoryPlus) {
        let timeout = self.attribute_timeout.min(self.entry_timeout);
        let mut inodes = lock(&self.inodes);
        for (next, status) in (1..).zip(entries).skip(offset) {
            let name = status.path.rsplit('/').next().unwrap_or_default();
            let inode = inodes.look_up(&status.path);
            let found = attributes(inode, status);
            if reply.add(found.ino, next, name, &timeout, &found, Generation(0)) {
                // There is no room for it: the kernel does not see it.
                inodes.forget(inode, 1);
                break;
            }
        }
    }
}

/// The path of a name in a directory; names of HDFS are UTF-8.
fn join(directory: &str, name: &OsStr) -> Option<String> {
    Some(format!(
        "{}/{}",
        directory.trim_end_matches('/'),
        name.to_str()?
    ))
}

impl Filesystem for HdfsFilesystem {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        let wanted = InitFlags::FUSE_DO_READDIRPLUS
            | InitFlags::FUSE_ASYNC_DIO
            | InitFlags::FUSE_PARALLEL_DIROPS;
        config
            .add_capabilities(wanted)
            .map_err(|_| std::io::ErrorKind::Unsupported.into())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let directory = self.shared.path(parent);
        match directory.and_then(|directory| join(&directory, name)) {
            Some(path) => self.spawn(|shared| async move { shared.look_up(&path, reply).await }),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn forget(&self, _: &Request, inode: INodeNo, lookups: u64) {
        lock(&self.shared.inodes).forget(inode.0, lookups);
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.shared.path(inode) {
            Some(path) => self.spawn(|shared| async move {
                shared.get_attributes(inode, &path, reply).await;
            }),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.shared.path(inode) {
            Some(path) => self.spawn(|shared| async move { shared.open_file(&path, reply).await }),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match lock(&self.shared.handles).get(&handle.0) {
            // It fails only after the end of the task, and then has replied by the drop of `reply`.
            Some(Handled::File(requests)) => drop(requests.send(ReadRequest {
                offset,
                size,
                reply,
            })),
            _ => reply.error(Errno::EBADF),
        }
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        lock(&self.shared.handles).remove(&handle.0);
        reply.ok();
    }

    fn opendir(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.shared.path(inode) {
            Some(path) => {
                self.spawn(|shared| async move { shared.open_directory(&path, reply).await });
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readdirplus(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let entries = match lock(&self.shared.handles).get(&handle.0) {
            Some(Handled::Directory(entries)) => Arc::clone(entries),
            _ => return reply.error(Errno::EBADF),
        };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        self.shared.list(&entries, offset, &mut reply);
        reply.ok();
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        lock(&self.shared.handles).remove(&handle.0);
        reply.ok();
    }

    fn getxattr(&self, _: &Request, inode: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        if inode.0 != ROOT || name != STATISTICS {
            return reply.error(Errno::NO_XATTR);
        }
        let text = self.shared.statistics.to_json();
        match u32::try_from(text.len()).unwrap_or(u32::MAX) {
            length if size == 0 => reply.size(length),
            length if length > size => reply.error(Errno::ERANGE),
            _ => reply.data(text.as_bytes()),
        }
    }
}
