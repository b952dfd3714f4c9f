//! Removing a tree with everything in it, whatever state it was left in.

use std::fs::{read_dir, remove_dir, remove_file};
use std::io;
use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustix::io::Errno;

use crate::error::{Error, Fault, Met};

/// Remove a directory and all that is in it, several directories at a time. What is gone already,
/// or goes meanwhile, is no error, and symbolic links are not followed.
///
/// # Errors
///
/// What the system refused first; the rest of that directory stays.
pub fn remove_tree(directory: &Path) -> Result<(), Error> {
    let mut levels = vec![];
    let mut below = vec![directory.to_owned()];
    while !below.is_empty() {
        let found = below.par_iter().map(|directory| remove_files(directory));
        let found = found.collect::<Result<Vec<_>, Met>>()?;
        levels.push(below);
        below = found.concat();
    }
    for level in levels.into_iter().rev() {
        level.par_iter().try_for_each(|directory| {
            unless_gone(remove_dir(directory), "rmdir", directory).map(|_| ())
        })?;
    }
    Ok(())
}

/// Remove all but directories; those are what is left.
fn remove_files(directory: &Path) -> Result<Vec<PathBuf>, Met> {
    let mut below = Vec::new();
    let Some(entries) = unless_gone(read_dir(directory), "open", directory)? else {
        return Ok(below);
    };
    for entry in entries {
        let entry = entry.map_err(|error| met("getdents64", directory, &error))?;
        let path = entry.path();
        let kind = unless_gone(entry.file_type(), "stat", &path)?;
        if kind.is_some_and(|kind| kind.is_dir()) {
            below.push(path);
        } else {
            unless_gone(remove_file(&path), "unlink", &path)?;
        }
    }
    Ok(below)
}

fn unless_gone<T>(done: io::Result<T>, call: &'static str, path: &Path) -> Result<Option<T>, Met> {
    match done {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(met(call, path, &error)),
    }
}

fn met(call: &'static str, path: &Path, error: &io::Error) -> Met {
    Met {
        path: path.to_owned(),
        fault: Fault::of(call)(Errno::from_io_error(error).unwrap_or(Errno::IO)),
    }
}
