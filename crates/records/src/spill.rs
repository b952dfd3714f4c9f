//! Where intermediate data go: nameless files, in turn over several folders.

use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Fault;
use crate::file::DataFile;

/// Spills of this process so far: jobs may run side by side in the same folder.
static MADE: AtomicU64 = AtomicU64::new(0);

/// Folders that share the spills, on one device or several.
#[derive(Debug, Clone)]
pub(crate) struct SpillFolders<'a> {
    folders: &'a [PathBuf],
    direct: bool,
}

impl<'a> SpillFolders<'a> {
    pub(crate) fn new(folders: &'a [PathBuf], direct: bool) -> Self {
        Self { folders, direct }
    }

    /// The position of the folder that has the `number`-th spill.
    pub(crate) fn folder_of(&self, number: usize) -> usize {
        number % self.folders.len()
    }

    /// A new file for the `number`-th spill. It is gone once it is closed.
    pub(crate) fn create(&self, number: usize) -> Result<DataFile, Fault> {
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!(".spill-{}-{made}", process::id());
        let path = self.folders[self.folder_of(number)].join(name);
        DataFile::nameless(&path, self.direct)
    }
}
