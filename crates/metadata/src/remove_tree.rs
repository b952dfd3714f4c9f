//! Removal of a directory tree.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{iter, thread};

use iostudy_files::{open, open_at};
use rustix::fs::{AtFlags, Dir, OFlags, rmdir, unlinkat};
use rustix::io::Errno;

use crate::error::{Error, Fault, Halt, OperationError};
use crate::executor::DIRECTORY;
use crate::operation_timer::Worker;

/// Symbolic links are never followed.
const DIRECTORY_NOFOLLOW: OFlags = DIRECTORY.union(OFlags::NOFOLLOW);

/// Remove a directory and its contents, several directories in parallel. Missing entries are no
/// error. Symbolic links are not followed, even if one replaces a directory during the removal:
/// root removes trees in other users' folders.
///
/// # Errors
///
/// The first failed system call; the rest of that directory remains.
pub fn remove_tree(directory: &Path) -> Result<(), Error> {
    let top = open(directory, DIRECTORY_NOFOLLOW);
    let top =
        ignore_missing(top).map_err(|errno| operation_error(directory.into(), "open", errno))?;
    let Some(top) = top else {
        return Ok(());
    };
    Tree { directory, top }.remove()?;
    ignore_missing(rmdir(directory))
        .map_err(|errno| operation_error(directory.into(), "rmdir", errno))?;
    Ok(())
}

/// Tree with an open root directory; other paths are relative to it.
struct Tree<'a> {
    directory: &'a Path,
    top: OwnedFd,
}

impl Tree<'_> {
    /// Remove everything below the root directory.
    fn remove(&self) -> Result<(), Error> {
        let mut levels = vec![];
        let mut subdirectories = vec![PathBuf::new()];
        while !subdirectories.is_empty() {
            let found = in_parallel(&subdirectories, |path| self.remove_files(path))?;
            levels.push(subdirectories);
            subdirectories = found.concat();
        }
        for level in levels.iter().skip(1).rev() {
            in_parallel(level, |path| self.remove_directory(path))?;
        }
        Ok(())
    }

    /// Open a directory component by component, because any component may have been replaced by a
    /// link. Intermediate descriptors are closed: a tree may be deeper than the descriptor limit.
    fn open(&self, path: &Path) -> Result<Option<OwnedFd>, OperationError> {
        let open_child = |above: OwnedFd, name| open_at(&above, name, DIRECTORY_NOFOLLOW);
        let start = open_at(&self.top, c".", DIRECTORY_NOFOLLOW);
        let opened = path
            .iter()
            .fold(start, |above, name| above.and_then(|a| open_child(a, name)));
        ignore_missing(opened).map_err(|errno| operation_error(self.path(path), "open", errno))
    }

    /// Remove all entries except directories, and return the directories.
    fn remove_files(&self, path: &Path) -> Result<Vec<PathBuf>, OperationError> {
        let mut subdirectories = Vec::new();
        let Some(directory) = self.open(path)? else {
            return Ok(subdirectories);
        };
        let listing = |errno| operation_error(self.path(path), "getdents64", errno);
        for entry in Dir::read_from(&directory).map_err(listing)? {
            let entry = entry.map_err(listing)?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let item = || path.join(OsStr::from_bytes(name.to_bytes()));
            match unlinkat(&directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::ISDIR) => subdirectories.push(item()),
                Err(errno) => return Err(operation_error(self.path(&item()), "unlink", errno)),
            }
        }
        Ok(subdirectories)
    }

    /// Remove an empty directory of the tree.
    fn remove_directory(&self, path: &Path) -> Result<(), OperationError> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            unreachable!("the path has a name and a parent");
        };
        let Some(above) = self.open(above)? else {
            return Ok(());
        };
        ignore_missing(unlinkat(&above, name, AtFlags::REMOVEDIR))
            .map_err(|errno| operation_error(self.path(path), "rmdir", errno))?;
        Ok(())
    }

    fn path(&self, path: &Path) -> PathBuf {
        self.directory.iter().chain(path).collect()
    }
}

/// Apply `work` to all items, in any order, on a thread for each processor. These threads access
/// files as the user of the calling thread does.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, OperationError> + Sync,
) -> Result<Vec<R>, Error> {
    let queue = Mutex::new(items.iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = |worker: &Worker| {
        let done = iter::from_fn(next).map(|item| {
            worker.check_stop()?;
            Ok(work(item)?)
        });
        done.collect::<Result<Vec<_>, Halt>>()
    };
    let processors = thread::available_parallelism().map_err(Error::Thread)?;
    let threads = processors.get().min(items.len());
    let done = iostudy_worker_pool::run(threads, run, &mut |_| true)?;
    Ok(done.into_iter().flatten().collect())
}

fn ignore_missing<T>(done: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match done {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn operation_error(path: PathBuf, call: &'static str, errno: Errno) -> OperationError {
    OperationError {
        path,
        fault: Fault::in_call(call)(errno),
    }
}
