//! What is asked for.

use thiserror::Error;

use crate::journal::Log;
use crate::operation::{Files, Operation};
use crate::record::LONGEST;

/// Phases of operations on files of a new, empty namespace.
#[derive(Debug, Clone)]
pub struct Job {
    /// How the log is kept; its directories are made and may hold no log.
    pub log: Log,
    /// The phases, in their order. Where the first needs files, they are made beforehand.
    pub operations: Vec<Operation>,
    /// How many files: each is operated on once in every phase.
    pub files: u64,
    /// How many of them lie in one directory.
    pub files_per_directory: u64,
    /// How many operations are under way at a time, as a name-node's handlers.
    pub threads: usize,
    /// How many threads of the system carry them; each waits for its own acknowledgements only
    /// when it can begin no other operation.
    pub workers: usize,
    /// An image is written whenever so many transactions have come; 0 for never.
    pub checkpoint_every: u64,
}

/// Why a job cannot be carried out as asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Invalid {
    /// There is nothing to do.
    #[error("no operations given; give at least one")]
    NoOperations,
    /// A number of zero.
    #[error("{0} is 0; it must be at least 1")]
    Zero(&'static str),
    /// Workers that would have nothing to carry.
    #[error("{workers} workers for {threads} threads; give at most as many")]
    Workers {
        /// As many as asked for.
        workers: usize,
        /// The most.
        threads: usize,
    },
    /// An operation after another that leaves it nothing to do.
    #[error("{0} cannot be done in its place; change the order of the operations")]
    OutOfOrder(&'static str),
    /// A record longer than the log takes.
    #[error("record_bytes is {0}; a record has at most {LONGEST}")]
    Record(usize),
    /// A log directory that is given twice would hold two logs.
    #[error("the log directory {0} is given twice")]
    Twice(String),
}

impl Job {
    /// Check that the job can work at all; nothing is touched.
    ///
    /// # Errors
    ///
    /// The first reason why it cannot.
    pub fn validate(&self) -> Result<(), Invalid> {
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
            return Err(Invalid::Zero(name));
        }
        if workers > threads {
            return Err(Invalid::Workers { workers, threads });
        }
        if self.log.record_bytes > LONGEST {
            return Err(Invalid::Record(self.log.record_bytes));
        }
        for (index, directory) in self.log.directories.iter().enumerate() {
            if self.log.directories[..index].contains(directory) {
                return Err(Invalid::Twice(directory.display().to_string()));
            }
        }
        self.validate_order()
    }

    /// What there is before the first phase.
    pub(crate) fn files_before(&self) -> Files {
        let needs = self
            .operations
            .iter()
            .find(|operation| **operation != Operation::Mkdirs);
        match needs {
            None | Some(Operation::Create) => Files::None,
            Some(_) => Files::Created,
        }
    }

    /// The number of the directory that holds the file of that number.
    pub(crate) fn directory_of(&self, file: u64) -> u64 {
        file / self.files_per_directory
    }

    /// The files of one worker.
    pub(crate) fn share(&self, worker: usize) -> std::ops::Range<u64> {
        let at = |worker: usize| {
            let all = u128::from(self.files) * worker as u128 / self.workers as u128;
            u64::try_from(all).expect("a part of what fits")
        };
        at(worker)..at(worker + 1)
    }

    /// How many operations that worker has under way at a time.
    pub(crate) fn threads_of(&self, worker: usize) -> usize {
        let at = |worker: usize| self.threads * worker / self.workers;
        at(worker + 1) - at(worker)
    }

    fn validate_order(&self) -> Result<(), Invalid> {
        if self.operations.is_empty() {
            return Err(Invalid::NoOperations);
        }
        let mut files = self.files_before();
        for (index, operation) in self.operations.iter().enumerate() {
            let made_before =
                *operation == Operation::Mkdirs && self.operations[..index].contains(operation);
            files = files
                .after(*operation)
                .filter(|_| !made_before)
                .ok_or(Invalid::OutOfOrder(operation.name()))?;
        }
        Ok(())
    }
}
