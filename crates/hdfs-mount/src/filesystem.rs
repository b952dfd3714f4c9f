//! The FUSE file system: each request becomes a task of the runtime, which replies when it is done.

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use fuser::{
    BsdFileFlags, Errno, FileHandle, Filesystem, INodeNo, InitFlags, KernelConfig, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyDirectoryPlus,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use hdfs_native::Client;
use tokio::runtime::Handle;

use crate::inodes::ROOT;
use crate::open_file::FileRequest;
use crate::operations::{AttributeChanges, Operations};
use crate::options::Options;

/// Extended attribute of the mount point with the statistics, as JSON.
const STATISTICS: &str = "user.iostudy.statistics";

/// A directory of HDFS as a file system.
pub struct HdfsFilesystem {
    operations: Arc<Operations>,
    runtime: Handle,
}

impl HdfsFilesystem {
    /// The file system below the path of the options.
    pub fn new(client: Client, options: &Options, runtime: Handle) -> Self {
        Self {
            operations: Arc::new(Operations::new(client, options)),
            runtime,
        }
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(
        &self,
        task: impl FnOnce(Arc<Operations>) -> F,
    ) {
        self.runtime.spawn(task(Arc::clone(&self.operations)));
    }

    fn path(&self, inode: INodeNo) -> Option<Arc<str>> {
        self.operations.inodes().path(inode.0)
    }

    /// The path of a name in a directory; names of HDFS are UTF-8.
    fn child(&self, directory: INodeNo, name: &OsStr) -> Option<String> {
        let directory = self.path(directory)?;
        let directory = directory.trim_end_matches('/');
        Some(format!("{directory}/{}", name.to_str()?))
    }

    fn remove(&self, parent: INodeNo, name: &OsStr, is_directory: bool, reply: ReplyEmpty) {
        match self.child(parent, name) {
            Some(path) => self.spawn(|all| async move {
                all.remove(&path, is_directory, reply).await;
            }),
            None => reply.error(Errno::ENOENT),
        }
    }
}

impl Filesystem for HdfsFilesystem {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        let mut wanted = InitFlags::FUSE_ASYNC_DIO | InitFlags::FUSE_PARALLEL_DIROPS;
        if !self.operations.is_writable() {
            wanted |= InitFlags::FUSE_DO_READDIRPLUS;
        }
        config
            .add_capabilities(wanted)
            .map_err(|_| std::io::ErrorKind::Unsupported.into())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.child(parent, name) {
            Some(path) => self.spawn(|all| async move { all.look_up(&path, reply).await }),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn forget(&self, _: &Request, inode: INodeNo, lookups: u64) {
        self.operations.inodes().forget(inode.0, lookups);
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.path(inode) {
            Some(path) => {
                self.spawn(|all| async move { all.get_attributes(inode, &path, reply).await });
            }
            None => reply.error(Errno::ESTALE),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        // Owners of HDFS are names that this host may not know.
        if uid.is_some() || gid.is_some() {
            return reply.error(Errno::EPERM);
        }
        let changes = AttributeChanges {
            mode,
            size,
            accessed,
            modified,
        };
        match self.path(inode) {
            Some(path) => self.spawn(|all| async move {
                all.set_attributes(inode, &path, changes, reply).await;
            }),
            None => reply.error(Errno::ESTALE),
        }
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        match self.child(parent, name) {
            Some(path) => self.spawn(|all| async move {
                all.make_directory(&path, mode & !umask, reply).await;
            }),
            None => reply.error(Errno::EINVAL),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(parent, name, false, reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(parent, name, true, reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        match (self.child(parent, name), self.child(new_parent, new_name)) {
            (Some(from), Some(to)) => self.spawn(|all| async move {
                all.rename(&from, &to, flags, reply).await;
            }),
            _ => reply.error(Errno::EINVAL),
        }
    }

    fn open(&self, _: &Request, inode: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.path(inode) {
            Some(path) => self.spawn(|all| async move {
                all.open_file(inode, &path, flags, reply).await;
            }),
            None => reply.error(Errno::ESTALE),
        }
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        match self.child(parent, name) {
            Some(path) => self.spawn(|all| async move {
                all.create_file(&path, mode & !umask & 0o7777, reply).await;
            }),
            None => reply.error(Errno::EINVAL),
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
        let request = FileRequest::Read {
            offset,
            size,
            reply,
        };
        self.operations.send(handle, request);
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let data = Bytes::copy_from_slice(data);
        let request = FileRequest::Write {
            offset,
            data,
            reply,
        };
        self.operations.send(handle, request);
    }

    fn flush(&self, _: &Request, _: INodeNo, handle: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.operations.send(handle, FileRequest::Flush(reply));
    }

    fn fsync(&self, _: &Request, _: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        self.operations.send(handle, FileRequest::Sync(reply));
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
        self.operations.release(handle);
        reply.ok();
    }

    fn opendir(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.path(inode) {
            Some(path) => {
                self.spawn(|all| async move { all.open_directory(&path, reply).await });
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        reply: ReplyDirectory,
    ) {
        self.operations.list_names(handle, offset, reply);
    }

    fn readdirplus(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        reply: ReplyDirectoryPlus,
    ) {
        self.operations.list(handle, offset, reply);
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.operations.release(handle);
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        // The NameNode has logged every change before it replies.
        reply.ok();
    }

    fn getxattr(&self, _: &Request, inode: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        let name = name.to_str().filter(|_| inode.0 == ROOT);
        let found = name.and_then(|name| match name {
            STATISTICS => Some(self.operations.statistics().to_json()),
            setting => self.operations.settings().read(setting),
        });
        let Some(text) = found else {
            return reply.error(Errno::NO_XATTR);
        };
        match u32::try_from(text.len()).unwrap_or(u32::MAX) {
            length if size == 0 => reply.size(length),
            length if length > size => reply.error(Errno::ERANGE),
            _ => reply.data(text.as_bytes()),
        }
    }

    fn setxattr(
        &self,
        _: &Request,
        inode: INodeNo,
        name: &OsStr,
        value: &[u8],
        _: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        let name = name.to_str().filter(|_| inode.0 == ROOT);
        let (Some(name), Ok(value)) = (name, std::str::from_utf8(value)) else {
            return reply.error(Errno::EOPNOTSUPP);
        };
        let mut settings = self.operations.settings();
        match settings.with(name, value) {
            Some(changed) => {
                *settings = changed;
                reply.ok();
            }
            None if settings.read(name).is_some() => reply.error(Errno::EINVAL),
            None => reply.error(Errno::EOPNOTSUPP),
        }
    }
}
