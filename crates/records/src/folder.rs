//! Output folder with the commit protocol of Hadoop's `FileOutputCommitter`: parts are written in
//! `_temporary` and renamed when all are complete; `_SUCCESS` marks a complete folder.

use std::fs;
use std::path::{Path, PathBuf};

use iostudy_files::open;
use rustix::fs::{Mode, OFlags, fsync, mkdir, rename, rmdir};
use rustix::io::retry_on_intr;

use crate::error::Fault;
use crate::file::DataFile;

const TEMPORARY: &str = "_temporary";
const SUCCESS: &str = "_SUCCESS";

/// Prefix of the parts of maps.
pub const MAP_PART: &str = "part-m-";
/// Prefix of the parts of reducers.
pub const REDUCE_PART: &str = "part-r-";

/// Name of a part.
pub fn part_name(prefix: &str, part: usize) -> String {
    format!("{prefix}{part:05}")
}

/// Uncommitted output folder. Dropping it before the commit removes all its files.
pub(crate) struct OutputFolder<'a> {
    folder: &'a Path,
    /// [`MAP_PART`] or [`REDUCE_PART`].
    prefix: &'static str,
    committed: bool,
}

impl<'a> OutputFolder<'a> {
    /// Create the folder, which must not exist.
    pub(crate) fn create(folder: &'a Path, prefix: &'static str) -> Result<Self, Fault> {
        mkdir(folder, Mode::RWXU | Mode::RGRP | Mode::XGRP).map_err(Fault::io(folder, "mkdir"))?;
        let output = Self {
            folder,
            prefix,
            committed: false,
        };
        let temporary = folder.join(TEMPORARY);
        mkdir(&temporary, Mode::RWXU).map_err(Fault::io(&temporary, "mkdir"))?;
        Ok(output)
    }

    /// Open a temporary part, which may already be open in another thread.
    pub(crate) fn part(&self, part: usize, direct: bool) -> Result<DataFile, Fault> {
        DataFile::create(&self.folder.join(TEMPORARY).join(self.name(part)), direct)
    }

    /// Rename the parts to their final names; `sync` makes all names durable, including the
    /// folder's own.
    pub(crate) fn commit(mut self, parts: usize, sync: bool) -> Result<(), Fault> {
        let temporary = self.folder.join(TEMPORARY);
        for part in 0..parts {
            let output = temporary.join(self.name(part));
            rename(&output, self.folder.join(self.name(part)))
                .map_err(Fault::io(&output, "rename"))?;
        }
        rmdir(&temporary).map_err(Fault::io(&temporary, "rmdir"))?;
        DataFile::create(&self.folder.join(SUCCESS), false)?.finish(sync)?;
        if sync {
            sync_folder(self.folder)?;
            sync_folder(&self.folder.join(".."))?; // contains the folder's name
        }
        self.committed = true;
        Ok(())
    }

    fn name(&self, part: usize) -> String {
        part_name(self.prefix, part)
    }
}

impl Drop for OutputFolder<'_> {
    fn drop(&mut self) {
        if !self.committed {
            let _ = fs::remove_dir_all(self.folder); // the earlier error is reported
        }
    }
}

fn sync_folder(folder: &Path) -> Result<(), Fault> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let opened = open(folder, flags).map_err(Fault::io(folder, "open"))?;
    retry_on_intr(|| fsync(&opened)).map_err(Fault::io(folder, "fsync"))
}

/// List the parts of a folder by name; as in Hadoop, names with `_` or `.` are skipped.
pub(crate) fn parts(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let io_fault = |error: std::io::Error| {
        let errno = rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO);
        Fault::io(folder, "readdir")(errno)
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(io_fault)? {
        let entry = entry.map_err(io_fault)?;
        if !entry.file_name().as_encoded_bytes().starts_with(b"_")
            && !entry.file_name().as_encoded_bytes().starts_with(b".")
        {
            found.push(entry.path());
        }
    }
    found.sort_unstable();
    Ok(found)
}
