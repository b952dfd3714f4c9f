//! What is asked for.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use thiserror::Error;

use crate::layout::Layout;
use crate::operation::Operation;
use crate::stock::Stock;

/// The kernel's `PATH_MAX`, the terminating zero included (`include/uapi/linux/limits.h`).
const PATH_MAX_BYTES: usize = 4096;

/// What is made durable, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Nothing: the file system writes when it likes to.
    None,
    /// fsync of every file before it is closed, as mdtest's `-y`.
    File,
    /// As `File`, and fsync of the directory after every operation that changed it.
    Directory,
    /// syncfs at the end of every phase that changes something, inside its time.
    Phase,
}

/// Phases of operations on files and directories, all of them below one directory.
#[derive(Debug, Clone)]
pub struct Job {
    /// Where the trees are made; it is made as well if its parent is there.
    pub directory: PathBuf,
    /// The phases, in their order.
    pub operations: Vec<Operation>,
    /// How many threads work at a time.
    pub threads: usize,
    /// Files of each thread, and directories where the operations make some.
    pub files: u64,
    /// The most of them in one directory of the tree.
    pub files_per_directory: u64,
    /// How many levels below the tree's top they lie; the tree is as wide as this needs.
    pub depth: u32,
    /// One tree for all threads, which meet in each of its directories; else each has its own.
    pub shared: bool,
    /// The size of each file.
    pub bytes_to_write: usize,
    /// What is made durable, and when.
    pub sync: Sync,
    /// What the content is made from, beside the file's number.
    pub seed: u64,
}

/// Why a job cannot be carried out as asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Invalid {
    /// There is nothing to do.
    #[error("no operations given; give at least one")]
    NoOperations,
    /// A figure of a phase is known by its operation.
    #[error("{name} is given twice; give each operation once")]
    Twice {
        /// Which one.
        name: &'static str,
    },
    /// An operation after another that leaves it nothing to do.
    #[error("{name} cannot be done in its place: {why}; change the order")]
    OutOfOrder {
        /// Which one.
        name: &'static str,
        /// What is wrong.
        why: &'static str,
    },
    /// A number of zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Which one.
        name: &'static str,
    },
    /// More files than can be counted.
    #[error("threads x files is more than can be counted; give fewer")]
    TooMany,
    /// The kernel would not take the path.
    #[error(
        "paths would have {bytes} bytes; the kernel takes {most}: give less depth or a shorter path"
    )]
    PathTooLong {
        /// The longest of them.
        bytes: usize,
        /// As many as there may be.
        most: usize,
    },
}

impl Job {
    /// Check that the job can work at all; nothing is touched.
    ///
    /// # Errors
    ///
    /// The first reason why it cannot.
    pub fn validate(&self) -> Result<(), Invalid> {
        self.validate_numbers()?;
        self.validate_order()?;
        let below = Layout::of(self).longest_path_bytes();
        let bytes = self.directory.as_os_str().as_bytes().len() + below;
        let most = PATH_MAX_BYTES - 1;
        if bytes > most {
            return Err(Invalid::PathTooLong { bytes, most });
        }
        Ok(())
    }

    /// The operations that must have been done, by a job of the same form, before this one.
    #[must_use]
    pub fn needs(&self) -> Vec<Operation> {
        let stock = Stock::before(&self.operations);
        let files = stock.files.map(|_| Operation::CreateWrite);
        let directories = stock.directories.then_some(Operation::Mkdir);
        files.into_iter().chain(directories).collect()
    }

    fn validate_numbers(&self) -> Result<(), Invalid> {
        let numbers = [
            ("threads", self.threads as u64),
            ("files", self.files),
            ("files_per_directory", self.files_per_directory),
            ("depth", u64::from(self.depth)),
        ];
        if let Some((name, _)) = numbers.into_iter().find(|(_, number)| *number == 0) {
            return Err(Invalid::Zero { name });
        }
        let all = self.files.checked_mul(self.threads as u64);
        all.map(|_| ()).ok_or(Invalid::TooMany)
    }

    fn validate_order(&self) -> Result<(), Invalid> {
        if self.operations.is_empty() {
            return Err(Invalid::NoOperations);
        }
        let mut stock = Stock::before(&self.operations);
        for (index, operation) in self.operations.iter().enumerate() {
            let name = operation.name();
            if self.operations[..index].contains(operation) {
                return Err(Invalid::Twice { name });
            }
            stock = stock
                .after(*operation)
                .map_err(|why| Invalid::OutOfOrder { name, why })?;
        }
        Ok(())
    }
}
