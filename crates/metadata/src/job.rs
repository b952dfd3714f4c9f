//! Definition and validation of metadata jobs.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use thiserror::Error;

use crate::layout::Layout;
use crate::tree_state::TreeState;

/// Durability of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncPolicy {
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
    pub sync: SyncPolicy,
    /// Seed of the content, combined with the file number.
    pub seed: u64,
}

impl Job {
    /// Operations that an earlier job of the same form must have run.
    pub fn required_operations(&self) -> Vec<Operation> {
        let tree_state = TreeState::required_before(&self.operations);
        let files = tree_state.files.map(|_| Operation::CreateWrite);
        let directories = tree_state.directories.then_some(Operation::Mkdir);
        files.into_iter().chain(directories).collect()
    }
}

/// The kernel's `PATH_MAX`, including the terminating zero (`include/uapi/linux/limits.h`).
const PATH_MAX_BYTES: usize = 4096;

/// Reasons why a job is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidJob {
    /// The job has no operations.
    #[error("no operations given; give at least one")]
    NoOperations,
    /// An operation is given twice.
    #[error("{name} is given twice; give each operation once")]
    Twice {
        /// Name of the operation or option.
        name: &'static str,
    },
    /// An operation has nothing to do at its position.
    #[error("{name} cannot be done in its place: {why}; change the order")]
    OutOfOrder {
        /// Name of the operation or option.
        name: &'static str,
        /// The reason.
        why: &'static str,
    },
    /// A number is zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Name of the operation or option.
        name: &'static str,
    },
    /// The total number of files overflows.
    #[error("threads x files is more than can be counted; give fewer")]
    TooMany,
    /// Paths exceed the kernel's limit.
    #[error(
        "paths would have {bytes} bytes; the kernel takes {most}: give less depth or a shorter path"
    )]
    PathTooLong {
        /// Length of the longest path in bytes.
        bytes: usize,
        /// Maximum length in bytes.
        most: usize,
    },
}

impl Job {
    /// Check the job without touching any file.
    ///
    /// # Errors
    ///
    /// The first reason why the job is invalid.
    pub fn validate(&self) -> Result<(), InvalidJob> {
        self.validate_numbers()?;
        self.validate_order()?;
        let relative = Layout::of(self).longest_path_bytes();
        let bytes = self.directory.as_os_str().as_bytes().len() + relative;
        let most = PATH_MAX_BYTES - 1;
        if bytes > most {
            return Err(InvalidJob::PathTooLong { bytes, most });
        }
        Ok(())
    }

    fn validate_numbers(&self) -> Result<(), InvalidJob> {
        let numbers = [
            ("threads", self.threads as u64),
            ("files", self.files),
            ("files_per_directory", self.files_per_directory),
            ("depth", u64::from(self.depth)),
        ];
        if let Some((name, _)) = numbers.into_iter().find(|(_, number)| *number == 0) {
            return Err(InvalidJob::Zero { name });
        }
        let all = self.files.checked_mul(self.threads as u64);
        all.map(|_| ()).ok_or(InvalidJob::TooMany)
    }

    fn validate_order(&self) -> Result<(), InvalidJob> {
        if self.operations.is_empty() {
            return Err(InvalidJob::NoOperations);
        }
        let mut tree_state = TreeState::required_before(&self.operations);
        for (index, operation) in self.operations.iter().enumerate() {
            let name = operation.name();
            if self.operations[..index].contains(operation) {
                return Err(InvalidJob::Twice { name });
            }
            tree_state = tree_state
                .after(*operation)
                .map_err(|why| InvalidJob::OutOfOrder { name, why })?;
        }
        Ok(())
    }
}

/// Operation of `NNBench` or mdtest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Create a file, write it and close it: `NNBench`'s `create_write`, mdtest's "File creation".
    CreateWrite,
    /// Open a file, read it to its end and close it: `open_read`, "File read".
    OpenRead,
    /// Read a file's attributes: "File stat".
    Stat,
    /// List one directory.
    List,
    /// Rename a file within its directory: `rename`.
    Rename,
    /// Unlink a file: `delete`, "File removal".
    Delete,
    /// Create an empty directory: "Directory creation".
    Mkdir,
    /// Remove an empty directory: "Directory removal".
    Rmdir,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 8] = [
        Self::CreateWrite,
        Self::OpenRead,
        Self::Stat,
        Self::List,
        Self::Rename,
        Self::Delete,
        Self::Mkdir,
        Self::Rmdir,
    ];

    /// Name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::CreateWrite => "create_write",
            Self::OpenRead => "open_read",
            Self::Stat => "stat",
            Self::List => "list",
            Self::Rename => "rename",
            Self::Delete => "delete",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
        }
    }

    /// Whether the operation changes a directory.
    pub fn changes(self) -> bool {
        match self {
            Self::CreateWrite | Self::Rename | Self::Delete | Self::Mkdir | Self::Rmdir => true,
            Self::OpenRead | Self::Stat | Self::List => false,
        }
    }
}
