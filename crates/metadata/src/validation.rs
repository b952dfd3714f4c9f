//! Validation of metadata jobs.

use std::os::unix::ffi::OsStrExt;

use thiserror::Error;

use crate::job::Job;
use crate::layout::Layout;
use crate::tree_state::TreeState;

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
