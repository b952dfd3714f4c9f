//! Errors of jobs and of single operations.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;
use thiserror::Error;

/// Failure of an operation on a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Fault {
    /// A system call failed.
    #[error("{call}: {errno}")]
    Io {
        /// Name of the system call.
        call: &'static str,
        /// Error number from the kernel.
        errno: Errno,
    },
    /// The file size differs from what was written.
    #[error("has {found} bytes and not the {expected} that were written")]
    Size {
        /// Actual size; reads report at most one byte more than expected.
        found: u64,
        /// Expected size in bytes.
        expected: u64,
    },
    /// The data differ from what was written.
    #[error("differs from what was written at byte {at}")]
    DataMismatch {
        /// Offset of the first wrong byte.
        at: u64,
    },
    /// A directory has more or fewer entries than expected.
    #[error("lists {found} names and not the {expected} that were made in it")]
    Names {
        /// Actual number of names.
        found: u64,
        /// Expected number of names.
        expected: u64,
    },
    /// A directory has the expected number of names, but other names.
    #[error("lists other names than were made in it")]
    OtherNames,
}

impl Fault {
    /// Map an errno to a fault of `call`.
    pub(crate) fn in_call(call: &'static str) -> impl Fn(Errno) -> Self {
        move |errno| Self::Io { call, errno }
    }
}

/// Fault with its path.
#[derive(Debug)]
pub(crate) struct OperationError {
    pub(crate) path: PathBuf,
    pub(crate) fault: Fault,
}

/// Reason why a thread ended early.
pub(crate) type Halt = iostudy_worker_pool::Halt<OperationError>;

/// Reason why a job produced no result.
#[derive(Debug, Error)]
pub enum Error {
    /// An operation failed. With several failures this is the first one.
    #[error("{}: {fault}", path.display())]
    Path {
        /// Path of the file or directory.
        path: PathBuf,
        /// The failure.
        fault: Fault,
    },
    /// The system refused to start a thread.
    #[error("{0}")]
    Thread(io::Error),
    /// The caller stopped the job.
    #[error("stopped before its end")]
    Stopped,
}

impl From<iostudy_worker_pool::Error<OperationError>> for Error {
    fn from(error: iostudy_worker_pool::Error<OperationError>) -> Self {
        match error {
            iostudy_worker_pool::Error::Fault { fault, .. } => fault.into(),
            iostudy_worker_pool::Error::Thread(error) => Self::Thread(error),
            iostudy_worker_pool::Error::Stopped => Self::Stopped,
        }
    }
}

impl From<OperationError> for Error {
    fn from(OperationError { path, fault }: OperationError) -> Self {
        Self::Path { path, fault }
    }
}
