//! Removing a tree with everything in it, whatever state it was left in.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use iostudy_files::{open, open_at};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustix::fs::{AtFlags, Dir, OFlags, rmdir, unlinkat};
use rustix::io::Errno;

use crate::error::{Error, Fault, Met};
use crate::hands::DIRECTORY;

/// Whatever takes the place of a directory, a link is not followed.
const NO_LINK: OFlags = DIRECTORY.union(OFlags::NOFOLLOW);

/// Remove a directory and all that is in it, several directories at a time. What is gone already,
/// or goes meanwhile, is no error, and symbolic links are not followed, also not where one takes
/// the place of a directory meanwhile: root removes trees in folders of others.
///
/// # Errors
///
/// What the system refused first; the rest of that directory stays.
pub fn remove_tree(directory: &Path) -> Result<(), Error> {
    let top = open(directory, NO_LINK);
    let top = unless_gone(top).map_err(|errno| met(directory.into(), "open", errno))?;
    let Some(top) = top else {
        return Ok(());
    };
    let tree = Tree { directory, top };
    let mut levels = vec![];
    let mut below = vec![PathBuf::new()];
    while !below.is_empty() {
        let found = below.par_iter().map(|place| tree.remove_files(place));
        let found = found.collect::<Result<Vec<_>, Met>>()?;
        levels.push(below);
        below = found.concat();
    }
    for level in levels.into_iter().skip(1).rev() {
        level
            .par_iter()
            .try_for_each(|place| tree.remove_directory(place))?;
    }
    unless_gone(rmdir(directory)).map_err(|errno| met(directory.into(), "rmdir", errno))?;
    Ok(())
}

/// A tree by its top; places are paths from there.
struct Tree<'a> {
    directory: &'a Path,
    top: OwnedFd,
}

impl Tree<'_> {
    /// Open a directory name by name: a path would be followed wherever it leads by now. None is
    /// kept open, since a tree may be deeper than there are descriptors.
    fn open(&self, place: &Path) -> Result<Option<OwnedFd>, Met> {
        let below = |above: OwnedFd, name| open_at(&above, name, NO_LINK);
        let start = open_at(&self.top, c".", NO_LINK);
        let opened = place
            .iter()
            .fold(start, |above, name| above.and_then(|a| below(a, name)));
        unless_gone(opened).map_err(|errno| met(self.path(place), "open", errno))
    }

    /// Remove all but directories; those are what is left.
    fn remove_files(&self, place: &Path) -> Result<Vec<PathBuf>, Met> {
        let mut below = Vec::new();
        let Some(directory) = self.open(place)? else {
            return Ok(below);
        };
        let listing = |errno| met(self.path(place), "getdents64", errno);
        for entry in Dir::read_from(&directory).map_err(listing)? {
            let entry = entry.map_err(listing)?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let item = || place.join(OsStr::from_bytes(name.to_bytes()));
            match unlinkat(&directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::ISDIR) => below.push(item()),
                Err(errno) => return Err(met(self.path(&item()), "unlink", errno)),
            }
        }
        Ok(below)
    }

    /// Remove an empty directory below the top.
    fn remove_directory(&self, place: &Path) -> Result<(), Met> {
        let (Some(above), Some(name)) = (place.parent(), place.file_name()) else {
            unreachable!("it has a name and lies in a directory");
        };
        let Some(above) = self.open(above)? else {
            return Ok(());
        };
        unless_gone(unlinkat(&above, name, AtFlags::REMOVEDIR))
            .map_err(|errno| met(self.path(place), "rmdir", errno))?;
        Ok(())
    }

    fn path(&self, place: &Path) -> PathBuf {
        self.directory.iter().chain(place).collect()
    }
}

fn unless_gone<T>(done: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match done {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn met(path: PathBuf, call: &'static str, errno: Errno) -> Met {
    Met {
        path,
        fault: Fault::of(call)(errno),
    }
}
