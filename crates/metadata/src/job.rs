//! Definition of metadata jobs.

use std::path::PathBuf;

use crate::operation::Operation;
use crate::tree_state::TreeState;

/// Durability of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// No sync: the file system decides.
    None,
    /// fsync of every file before it is closed, as mdtest's `-y`.
    File,
    /// As `File`, and fsync of the directory after every operation that changed it.
    Directory,
    /// syncfs at the end of every phase with changes, inside its time.
    Phase,
}

/// Metadata job: phases of operations on files and directories below one directory.
#[derive(Debug, Clone)]
pub struct Job {
    /// Directory of the trees; it is created if its parent exists.
    pub directory: PathBuf,
    /// Operations, one phase each, in order.
    pub operations: Vec<Operation>,
    /// Number of threads.
    pub threads: usize,
    /// Number of files per thread, and of directories where operations create some.
    pub files: u64,
    /// Maximum number of files in one directory of the tree.
    pub files_per_directory: u64,
    /// Number of directory levels below the tree's root.
    pub depth: u32,
    /// One tree for all threads, which share each directory; otherwise one tree per thread.
    pub shared: bool,
    /// File size in bytes.
    pub bytes_to_write: usize,
    /// Durability of operations.
    pub sync: Sync,
    /// Seed of the content, combined with the file number.
    pub seed: u64,
}

impl Job {
    /// Operations that an earlier job of the same form must have run.
    #[must_use]
    pub fn required_operations(&self) -> Vec<Operation> {
        let tree_state = TreeState::required_before(&self.operations);
        let files = tree_state.files.map(|_| Operation::CreateWrite);
        let directories = tree_state.directories.then_some(Operation::Mkdir);
        files.into_iter().chain(directories).collect()
    }
}
