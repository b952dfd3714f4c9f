//! The system calls of each operation, and what they need.

use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use iostudy_files::{open, open_at, write_all};
use iostudy_pattern::{Content, Record};
use rustix::fs::{AtFlags, Mode, OFlags, Stat, fsync, mkdirat, renameat, statat, unlinkat};
use rustix::io::{Errno, read, retry_on_intr, write};

use crate::error::{Fault, Met};
use crate::item_path::ItemPath;
use crate::job::{Job, Sync};
use crate::layout::Layout;
use crate::listing::{LISTING_BYTES, list};
use crate::operation::Operation;
use crate::stock::{Kind, Stock};

const NEW_FILE: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL);
/// What a directory is opened with.
pub(crate) const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);
pub(crate) const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);

/// What a thread has ready for the operation of its phase, so that nothing has to be allocated.
pub(crate) struct Hands<'a> {
    job: &'a Job,
    layout: &'a Layout,
    operation: Operation,
    stock: Stock,
    top_path: PathBuf,
    /// The top of the tree; every path is taken from here.
    top: OwnedFd,
    /// The directory whose files it is at, where it is to be synced.
    synced: Option<OwnedFd>,
    path: ItemPath,
    new_path: ItemPath,
    content: Content,
    /// What makes the numbers of all trees different.
    first_file: u64,
    incoming: Vec<u8>,
    listing: Vec<MaybeUninit<u8>>,
}

impl<'a> Hands<'a> {
    pub(crate) fn new(
        job: &'a Job,
        layout: &'a Layout,
        (operation, stock): (Operation, Stock),
        thread: usize,
    ) -> Result<Self, Met> {
        let top_path = job.directory.join(layout.tree_name(thread));
        let prepared = open(&top_path, DIRECTORY)
            .map_err(Fault::of("open"))
            .and_then(|top| Ok((top, content(job)?)));
        let (top, content) = prepared.map_err(|fault| Met {
            path: top_path.clone(),
            fault,
        })?;
        Ok(Self {
            job,
            layout,
            operation,
            stock,
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

    /// Go to a directory of the tree.
    pub(crate) fn enter(&mut self, leaf: u64) -> Result<(), Met> {
        self.path.enter(self.layout, leaf, self.layout.depth());
        self.new_path.enter(self.layout, leaf, self.layout.depth());
        if self.operation.changes() && self.job.sync == Sync::Directory {
            self.synced = Some(self.open_directory().map_err(|fault| self.met(fault))?);
        }
        Ok(())
    }

    /// Do the operation to one file or directory of those in the directory.
    #[inline]
    pub(crate) fn perform(&mut self, item: u64) -> Result<(), Met> {
        self.call(item)
            .and_then(|()| self.sync_directory())
            .map_err(|fault| self.met(fault))
    }

    /// List the directory as a whole.
    pub(crate) fn list(&mut self, leaf: u64) -> Result<(), Met> {
        self.open_directory()
            .and_then(|directory| {
                let items = self.layout.items(leaf);
                list(directory.as_fd(), &mut self.listing, self.stock, items)?;
                close(directory)
            })
            .map_err(|fault| self.met(fault))
    }

    #[inline]
    fn call(&mut self, item: u64) -> Result<(), Fault> {
        let kind = self.stock.files.unwrap_or(Kind::Created);
        match self.operation {
            Operation::CreateWrite => self.create_write(item),
            Operation::OpenRead => self.open_read(kind, item),
            Operation::Stat => self.stat(kind, item),
            Operation::Rename => self.rename(kind, item),
            Operation::Delete => self.unlink(kind, item, AtFlags::empty()),
            Operation::Mkdir => self.mkdir(item),
            Operation::Rmdir => self.unlink(Kind::Directory, item, AtFlags::REMOVEDIR),
            Operation::List => unreachable!("directories are listed as a whole"),
        }
    }

    fn create_write(&mut self, item: u64) -> Result<(), Fault> {
        let path = self.path.name(Kind::Created, item);
        let file = open_at(&self.top, path, NEW_FILE).map_err(Fault::of("openat"))?;
        if self.job.bytes_to_write > 0 {
            let data = self.content.record(self.first_file + item, whole(self.job));
            write_all(data, 0, |data, _| write(&file, data))
                .map_err(|refused| Fault::of("write")(refused.errno))?;
        }
        if matches!(self.job.sync, Sync::File | Sync::Directory) {
            retry_on_intr(|| fsync(&file)).map_err(Fault::of("fsync"))?;
        }
        close(file)
    }

    fn open_read(&mut self, kind: Kind, item: u64) -> Result<(), Fault> {
        let path = self.path.name(kind, item);
        let file = open_at(&self.top, path, OFlags::RDONLY).map_err(Fault::of("openat"))?;
        let found = read_whole(&file, &mut self.incoming)?;
        self.compare(item, found)?;
        close(file)
    }

    fn compare(&self, item: u64, found: usize) -> Result<(), Fault> {
        self.has_size(found as u64)?;
        let file = self.first_file + item;
        let found = &self.incoming[..found];
        match self.content.first_difference(file, 0, found) {
            Some(at) => Err(Fault::Differs { at }),
            None => Ok(()),
        }
    }

    fn has_size(&self, found: u64) -> Result<(), Fault> {
        let expected = self.job.bytes_to_write as u64;
        if found == expected {
            Ok(())
        } else {
            Err(Fault::Size { found, expected })
        }
    }

    fn stat(&mut self, kind: Kind, item: u64) -> Result<(), Fault> {
        let path = self.path.name(kind, item);
        let found = statat(&self.top, path, AtFlags::SYMLINK_NOFOLLOW);
        let Stat { st_size, .. } = found.map_err(Fault::of("fstatat"))?;
        self.has_size(u64::try_from(st_size).expect("no size is negative"))
    }

    fn rename(&mut self, kind: Kind, item: u64) -> Result<(), Fault> {
        let from = self.path.name(kind, item);
        let to = self.new_path.name(Kind::Renamed, item);
        renameat(&self.top, from, &self.top, to).map_err(Fault::of("renameat"))
    }

    fn unlink(&mut self, kind: Kind, item: u64, flags: AtFlags) -> Result<(), Fault> {
        let path = self.path.name(kind, item);
        unlinkat(&self.top, path, flags).map_err(Fault::of("unlinkat"))
    }

    fn mkdir(&mut self, item: u64) -> Result<(), Fault> {
        let path = self.path.name(Kind::Directory, item);
        mkdirat(&self.top, path, DIRECTORY_MODE).map_err(Fault::of("mkdirat"))
    }

    fn sync_directory(&self) -> Result<(), Fault> {
        let Some(directory) = &self.synced else {
            return Ok(());
        };
        retry_on_intr(|| fsync(directory)).map_err(Fault::of("fsync of the directory after it"))
    }

    fn open_directory(&mut self) -> Result<OwnedFd, Fault> {
        let path = self.path.directory();
        open_at(&self.top, path, DIRECTORY).map_err(Fault::of("openat"))
    }

    /// A fault of the path that was asked for last.
    #[cold]
    fn met(&self, fault: Fault) -> Met {
        let below = OsStr::from_bytes(self.path.as_c_str().to_bytes());
        Met {
            path: self.top_path.join(below),
            fault,
        }
    }
}

fn content(job: &Job) -> Result<Content, Fault> {
    Content::new(job.seed, 0.0, job.bytes_to_write).map_err(|error| {
        let errno = Errno::from_io_error(&error).unwrap_or(Errno::NOMEM);
        Fault::of("mmap")(errno)
    })
}

/// The one record that a file is.
fn whole(job: &Job) -> Record {
    Record {
        offset: 0,
        len: job.bytes_to_write,
    }
}

/// Fill `memory`, which has room for a byte more than there should be: then one call tells the end.
fn read_whole(file: &OwnedFd, memory: &mut [u8]) -> Result<usize, Fault> {
    let mut found = 0;
    loop {
        let count = retry_on_intr(|| read(file, &mut memory[found..]));
        let count = count.map_err(Fault::of("read"))?;
        found += count;
        if count == 0 || found + 1 >= memory.len() {
            return Ok(found);
        }
    }
}

fn close(file: OwnedFd) -> Result<(), Fault> {
    iostudy_files::close(file).map_err(Fault::of("close"))
}
