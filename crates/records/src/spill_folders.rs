//! Spill files, unlinked and distributed over several folders.

use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;

use crate::error::Fault;
use crate::file::DataFile;

/// Number of spills in this process: concurrent jobs may share a folder.
static CREATED: AtomicU64 = AtomicU64::new(0);

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

    /// Index of the folder of spill `number`.
    pub(crate) fn folder_index(&self, number: usize) -> usize {
        number % self.folders.len()
    }

    /// Create an unlinked file for spill `number`.
    ///
    /// Existing names are skipped: a process with the same id, in another container or killed, may
    /// have left them.
    pub(crate) fn create(&self, number: usize) -> Result<DataFile, Fault> {
        let folder = &self.folders[self.folder_index(number)];
        loop {
            let path = folder.join(name(CREATED.fetch_add(1, Ordering::Relaxed)));
            match DataFile::create_unlinked(&path, self.direct) {
                Err(Fault::Io {
                    errno: Errno::EXIST,
                    ..
                }) => {}
                result => return result,
            }
        }
    }
}

fn name(number: u64) -> String {
    format!(".spill-{}-{number}", process::id())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn existing_names_are_skipped_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let next = CREATED.load(Ordering::Relaxed);
        for output in next..next + 50 {
            fs::write(folder.path().join(name(output)), "of another").unwrap();
        }
        let folders = [folder.path().to_owned()];
        let spill = SpillFolders::new(&folders, false).create(0).unwrap();
        spill.write_at(b"mine", 0).unwrap();
        let others = fs::read_dir(folder.path()).unwrap();
        let contents = others.map(|other| fs::read(other.unwrap().path()).unwrap());
        assert!(contents.eq(vec![b"of another".to_vec(); 50]));
    }
}
