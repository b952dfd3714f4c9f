//! Where intermediate data go: nameless files, in turn over several folders.

use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;

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
    ///
    /// A name that is taken is passed over: a process of that number, in another container or
    /// killed before it took the name away, had the same.
    pub(crate) fn create(&self, number: usize) -> Result<DataFile, Fault> {
        let folder = &self.folders[self.folder_of(number)];
        loop {
            let path = folder.join(name(MADE.fetch_add(1, Ordering::Relaxed)));
            match DataFile::nameless(&path, self.direct) {
                Err(Fault::Io {
                    errno: Errno::EXIST,
                    ..
                }) => {}
                made => return made,
            }
        }
    }
}

fn name(made: u64) -> String {
    format!(".spill-{}-{made}", process::id())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn names_that_are_taken_are_passed_over_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let next = MADE.load(Ordering::Relaxed);
        for made in next..next + 50 {
            fs::write(folder.path().join(name(made)), "of another").unwrap();
        }
        let folders = [folder.path().to_owned()];
        let spill = SpillFolders::new(&folders, false).create(0).unwrap();
        spill.write_at(b"mine", 0).unwrap();
        let others = fs::read_dir(folder.path()).unwrap();
        let contents = others.map(|other| fs::read(other.unwrap().path()).unwrap());
        assert!(contents.eq(vec![b"of another".to_vec(); 50]));
    }
}
