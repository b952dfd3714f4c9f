//! Definition and validation of namespace jobs.

use thiserror::Error;

use crate::journal::LogOptions;
use crate::operation::{FileState, Operation};
use crate::record::MAX_RECORD_BYTES;

/// Namespace job: phases of operations on a new namespace.
#[derive(Debug, Clone)]
pub struct Job {
    /// Log options; its directories are created and must not contain a log.
    pub log: LogOptions,
    /// Operations, one phase each, in order. Files for the first phase are created before it.
    pub operations: Vec<Operation>,
    /// Number of files; every phase operates once on each.
    pub files: u64,
    /// Number of files per directory.
    pub files_per_directory: u64,
    /// Number of operations in flight, like the handlers of a name-node.
    pub threads: usize,
    /// Number of OS threads that run the operations. A thread waits for acknowledgements only when
    /// it cannot start another operation.
    pub workers: usize,
    /// Checkpoint interval in transactions; 0 means never.
    pub checkpoint_every: u64,
}

/// Reasons why a job is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidJob {
    /// The job has no operations.
    #[error("no operations given; give at least one")]
    NoOperations,
    /// A number is zero.
    #[error("{0} is 0; it must be at least 1")]
    Zero(&'static str),
    /// There are more workers than threads.
    #[error("{workers} workers for {threads} threads; give at most as many")]
    Workers {
        /// Requested number.
        workers: usize,
        /// Maximum number.
        threads: usize,
    },
    /// An operation has nothing to do at its position.
    #[error("{0} cannot be done in its place; change the order of the operations")]
    OutOfOrder(&'static str),
    /// The record size exceeds the maximum.
    #[error("record_bytes is {0}; a record has at most {MAX_RECORD_BYTES}")]
    Record(usize),
    /// A log directory is given twice.
    #[error("the log directory {0} is given twice")]
    Twice(String),
}

impl Job {
    /// Check the job without touching any file.
    ///
    /// # Errors
    ///
    /// The first reason why the job is invalid.
    pub fn validate(&self) -> Result<(), InvalidJob> {
        let Self {
            files,
            files_per_directory,
            threads,
            workers,
            ..
        } = *self;
        let numbers = [
            ("files", files),
            ("files_per_directory", files_per_directory),
            ("threads", threads as u64),
            ("workers", workers as u64),
        ];
        if let Some((name, _)) = numbers.into_iter().find(|(_, number)| *number == 0) {
            return Err(InvalidJob::Zero(name));
        }
        if workers > threads {
            return Err(InvalidJob::Workers { workers, threads });
        }
        if self.log.record_bytes > MAX_RECORD_BYTES {
            return Err(InvalidJob::Record(self.log.record_bytes));
        }
        for (index, directory) in self.log.directories.iter().enumerate() {
            if self.log.directories[..index].contains(directory) {
                return Err(InvalidJob::Twice(directory.display().to_string()));
            }
        }
        self.validate_order()
    }

    /// File state before the first phase.
    pub(crate) fn files_before(&self) -> FileState {
        let needs = self
            .operations
            .iter()
            .find(|operation| **operation != Operation::Mkdirs);
        match needs {
            None | Some(Operation::Create) => FileState::None,
            Some(_) => FileState::Created,
        }
    }

    /// Index of the directory of a file.
    pub(crate) fn directory_index(&self, file: u64) -> u64 {
        file / self.files_per_directory
    }

    /// Files of one worker.
    pub(crate) fn file_range(&self, worker: usize) -> std::ops::Range<u64> {
        let at = |worker: usize| {
            let product = u128::from(self.files) * worker as u128 / self.workers as u128;
            u64::try_from(product).expect("a share of a u64")
        };
        at(worker)..at(worker + 1)
    }

    /// Number of operations in flight of one worker.
    pub(crate) fn threads_per_worker(&self, worker: usize) -> usize {
        let at = |worker: usize| self.threads * worker / self.workers;
        at(worker + 1) - at(worker)
    }

    fn validate_order(&self) -> Result<(), InvalidJob> {
        if self.operations.is_empty() {
            return Err(InvalidJob::NoOperations);
        }
        let mut files = self.files_before();
        for (index, operation) in self.operations.iter().enumerate() {
            let made_before =
                *operation == Operation::Mkdirs && self.operations[..index].contains(operation);
            files = files
                .after(*operation)
                .filter(|_| !made_before)
                .ok_or(InvalidJob::OutOfOrder(operation.name()))?;
        }
        Ok(())
    }
}
