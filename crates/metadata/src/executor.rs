//! Execution of metadata operations by system calls.

use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use iostudy_files::{open, open_at, write_all};
use iostudy_pattern::{Content, Record};
use rustix::fs::{AtFlags, Mode, OFlags, Stat, fsync, mkdirat, renameat, statat, unlinkat};
use rustix::io::{Errno, read, retry_on_intr, write};

use crate::error::{Fault, OperationError};
use crate::job::Operation;
use crate::job::{Job, SyncPolicy};
use crate::layout::ItemPath;
use crate::layout::Layout;
use crate::listing::{LISTING_BYTES, list};
use crate::tree_state::{NameKind, TreeState};

const NEW_FILE: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL);
/// Flags for opening directories.
pub(crate) const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);
pub(crate) const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);

/// Executor of one thread's operations in a phase, with preallocated buffers.
pub(crate) struct Executor<'a> {
    job: &'a Job,
    layout: &'a Layout,
    operation: Operation,
    tree_state: TreeState,
    top_path: PathBuf,
    /// Root directory of the tree; all paths are relative to it.
    top: OwnedFd,
    /// Current directory, where it must be synced.
    synced: Option<OwnedFd>,
    path: ItemPath,
    new_path: ItemPath,
    content: Content,
    /// Offset that makes file numbers unique over all trees.
    first_file: u64,
    incoming: Vec<u8>,
    listing: Vec<MaybeUninit<u8>>,
}

impl<'a> Executor<'a> {
    pub(crate) fn new(
        job: &'a Job,
        layout: &'a Layout,
        (operation, tree_state): (Operation, TreeState),
        thread: usize,
    ) -> Result<Self, OperationError> {
        let top_path = job.directory.join(layout.tree_name(thread));
        let prepared = open(&top_path, DIRECTORY)
            .map_err(Fault::in_call("open"))
            .and_then(|top| Ok((top, content(job)?)));
        let (top, content) = prepared.map_err(|fault| OperationError {
            path: top_path.clone(),
            fault,
        })?;
        Ok(Self {
            job,
            layout,
            operation,
            tree_state,
            top_path,
            top,
            synced: None,
            path: ItemPath::new(layout),
            new_path: ItemPath::new(layout),
            content,
            first_file: layout.first_file(thread),
            incoming: vec![0; job.bytes_to_write + 1],
            listing: vec![MaybeUninit::uninit(); LISTING_BYTES],
        })
    }

    /// Perform another operation from now on.
    pub(crate) fn switch_to(&mut self, operation: Operation, tree_state: TreeState) {
        (self.operation, self.tree_state) = (operation, tree_state);
        self.synced = None;
    }

    /// Enter a directory of the tree.
    pub(crate) fn enter(&mut self, leaf: u64) -> Result<(), OperationError> {
        self.path.enter(self.layout, leaf, self.layout.depth());
        self.new_path.enter(self.layout, leaf, self.layout.depth());
        if self.operation.changes() && self.job.sync == SyncPolicy::Directory {
            self.synced = Some(
                self.open_directory()
                    .map_err(|fault| self.operation_error(fault))?,
            );
        }
        Ok(())
    }

    /// Run the operation on one file or directory of the current directory.
    #[inline]
    pub(crate) fn perform(&mut self, item: u64) -> Result<(), OperationError> {
        self.call(item)
            .and_then(|()| self.sync_directory())
            .map_err(|fault| self.operation_error(fault))
    }

    /// List the current directory.
    pub(crate) fn list(&mut self, leaf: u64) -> Result<(), OperationError> {
        self.open_directory()
            .and_then(|directory| {
                let items = self.layout.items(leaf);
                list(directory.as_fd(), &mut self.listing, self.tree_state, items)?;
                close(directory)
            })
            .map_err(|fault| self.operation_error(fault))
    }

    #[inline]
    fn call(&mut self, item: u64) -> Result<(), Fault> {
        let kind = self.tree_state.files.unwrap_or(NameKind::Created);
        match self.operation {
            Operation::CreateWrite => self.create_write(item),
            Operation::OpenRead => self.open_read(kind, item),
            Operation::Stat => self.stat(kind, item),
            Operation::Rename => self.rename(kind, item),
            Operation::Delete => self.unlink(kind, item, AtFlags::empty()),
            Operation::Mkdir => self.mkdir(item),
            Operation::Rmdir => self.unlink(NameKind::Directory, item, AtFlags::REMOVEDIR),
            Operation::List => unreachable!("directories are listed as a whole"),
        }
    }

    fn create_write(&mut self, item: u64) -> Result<(), Fault> {
        let path = self.path.name(NameKind::Created, item);
        let file = open_at(&self.top, path, NEW_FILE).map_err(Fault::in_call("openat"))?;
        if self.job.bytes_to_write > 0 {
            let data = self
                .content
                .record(self.first_file + item, file_record(self.job));
            write_all(data, 0, |data, _| write(&file, data))
                .map_err(|refused| Fault::in_call("write")(refused.errno))?;
        }
        if matches!(self.job.sync, SyncPolicy::File | SyncPolicy::Directory) {
            retry_on_intr(|| fsync(&file)).map_err(Fault::in_call("fsync"))?;
        }
        close(file)
    }

    fn open_read(&mut self, kind: NameKind, item: u64) -> Result<(), Fault> {
        let path = self.path.name(kind, item);
        let file = open_at(&self.top, path, OFlags::RDONLY).map_err(Fault::in_call("openat"))?;
        let found = read_to_end(&file, &mut self.incoming)?;
        self.compare(item, found)?;
        close(file)
    }

    fn compare(&self, item: u64, found: usize) -> Result<(), Fault> {
        self.check_size(found as u64)?;
        let file = self.first_file + item;
        let found = &self.incoming[..found];
        match self.content.first_difference(file, 0, found) {
            Some(at) => Err(Fault::DataMismatch { at }),
            None => Ok(()),
        }
    }

    fn check_size(&self, found: u64) -> Result<(), Fault> {
        let expected = self.job.bytes_to_write as u64;
        if found == expected {
            Ok(())
        } else {
            Err(Fault::Size { found, expected })
        }
    }

    fn stat(&mut self, kind: NameKind, item: u64) -> Result<(), Fault> {
        let path = self.path.name(kind, item);
        let found = statat(&self.top, path, AtFlags::SYMLINK_NOFOLLOW);
        let Stat { st_size, .. } = found.map_err(Fault::in_call("fstatat"))?;
        self.check_size(u64::try_from(st_size).expect("no size is negative"))
    }

    fn rename(&mut self, kind: NameKind, item: u64) -> Result<(), Fault> {
        let from = self.path.name(kind, item);
        let to = self.new_path.name(NameKind::Renamed, item);
        renameat(&self.top, from, &self.top, to).map_err(Fault::in_call("renameat"))
    }

    fn unlink(&mut self, kind: NameKind, item: u64, flags: AtFlags) -> Result<(), Fault> {
        let path = self.path.name(kind, item);
        unlinkat(&self.top, path, flags).map_err(Fault::in_call("unlinkat"))
    }

    fn mkdir(&mut self, item: u64) -> Result<(), Fault> {
        let path = self.path.name(NameKind::Directory, item);
        mkdirat(&self.top, path, DIRECTORY_MODE).map_err(Fault::in_call("mkdirat"))
    }

    fn sync_directory(&self) -> Result<(), Fault> {
        let Some(directory) = &self.synced else {
            return Ok(());
        };
        retry_on_intr(|| fsync(directory))
            .map_err(Fault::in_call("fsync of the directory after it"))
    }

    fn open_directory(&mut self) -> Result<OwnedFd, Fault> {
        let path = self.path.directory();
        open_at(&self.top, path, DIRECTORY).map_err(Fault::in_call("openat"))
    }

    /// Attach the most recent path to a fault.
    #[cold]
    fn operation_error(&self, fault: Fault) -> OperationError {
        let relative = OsStr::from_bytes(self.path.as_c_str().to_bytes());
        OperationError {
            path: self.top_path.join(relative),
            fault,
        }
    }
}

fn content(job: &Job) -> Result<Content, Fault> {
    Content::new(job.seed, 0.0, job.bytes_to_write).map_err(|error| {
        let errno = Errno::from_io_error(&error).unwrap_or(Errno::NOMEM);
        Fault::in_call("mmap")(errno)
    })
}

/// The single record of a file.
fn file_record(job: &Job) -> Record {
    Record {
        offset: 0,
        len: job.bytes_to_write,
    }
}

/// Fill `memory`, which has one byte more than the expected size, so that one call detects the end.
fn read_to_end(file: &OwnedFd, memory: &mut [u8]) -> Result<usize, Fault> {
    let mut found = 0;
    loop {
        let count = retry_on_intr(|| read(file, &mut memory[found..]));
        let count = count.map_err(Fault::in_call("read"))?;
        found += count;
        if count == 0 || found + 1 >= memory.len() {
            return Ok(found);
        }
    }
}

fn close(file: OwnedFd) -> Result<(), Fault> {
    iostudy_files::close(file).map_err(Fault::in_call("close"))
}
