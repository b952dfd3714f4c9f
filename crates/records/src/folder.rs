//! The folder that a job makes, as Hadoop's `FileOutputCommitter` does: parts are written in
//! `_temporary` and renamed once all are there; `_SUCCESS` says that nothing is missing.

use std::fs;
use std::path::{Path, PathBuf};

use iostudy_files::open;
use rustix::fs::{Mode, OFlags, fsync, mkdir, rename, rmdir};
use rustix::io::retry_on_intr;

use crate::error::Fault;
use crate::file::DataFile;

const TEMPORARY: &str = "_temporary";
const SUCCESS: &str = "_SUCCESS";

/// A folder being made. Dropped before it is committed it takes away all it has made.
pub(crate) struct OutputFolder<'a> {
    folder: &'a Path,
    /// `part-m-` of maps or `part-r-` of reducers.
    prefix: &'static str,
    committed: bool,
}

impl<'a> OutputFolder<'a> {
    /// Make the folder, which must not be there yet: nothing is overwritten.
    pub(crate) fn create(folder: &'a Path, prefix: &'static str) -> Result<Self, Fault> {
        mkdir(folder, Mode::RWXU | Mode::RGRP | Mode::XGRP).map_err(Fault::io(folder, "mkdir"))?;
        let made = Self {
            folder,
            prefix,
            committed: false,
        };
        let temporary = folder.join(TEMPORARY);
        mkdir(&temporary, Mode::RWXU).map_err(Fault::io(&temporary, "mkdir"))?;
        Ok(made)
    }

    /// Open a part that is being made, which may be open elsewhere already.
    pub(crate) fn part(&self, part: usize, direct: bool) -> Result<DataFile, Fault> {
        DataFile::create(&self.folder.join(TEMPORARY).join(self.name(part)), direct)
    }

    /// Give the parts their names; `sync` makes the names last as well, the folder's own
    /// among them.
    pub(crate) fn commit(mut self, parts: usize, sync: bool) -> Result<(), Fault> {
        let temporary = self.folder.join(TEMPORARY);
        for part in 0..parts {
            let made = temporary.join(self.name(part));
            rename(&made, self.folder.join(self.name(part))).map_err(Fault::io(&made, "rename"))?;
        }
        rmdir(&temporary).map_err(Fault::io(&temporary, "rmdir"))?;
        DataFile::create(&self.folder.join(SUCCESS), false)?.finish(sync)?;
        if sync {
            sync_folder(self.folder)?;
            sync_folder(&self.folder.join(".."))?; // which has its name
        }
        self.committed = true;
        Ok(())
    }

    fn name(&self, part: usize) -> String {
        format!("{}{part:05}", self.prefix)
    }
}

impl Drop for OutputFolder<'_> {
    fn drop(&mut self) {
        if !self.committed {
            let _ = fs::remove_dir_all(self.folder); // what went wrong before is what is told
        }
    }
}

fn sync_folder(folder: &Path) -> Result<(), Fault> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let opened = open(folder, flags).map_err(Fault::io(folder, "open"))?;
    retry_on_intr(|| fsync(&opened)).map_err(Fault::io(folder, "fsync"))
}

/// The parts in a folder, by name; what begins with `_` or `.` is none, as for Hadoop.
pub(crate) fn parts(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let told = |error: std::io::Error| {
        let errno = rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO);
        Fault::io(folder, "readdir")(errno)
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(told)? {
        let entry = entry.map_err(told)?;
        if !entry.file_name().as_encoded_bytes().starts_with(b"_")
            && !entry.file_name().as_encoded_bytes().starts_with(b".")
        {
            found.push(entry.path());
        }
    }
    found.sort_unstable();
    Ok(found)
}
