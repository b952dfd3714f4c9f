//! Errors of jobs and of single files.

use std::io;
use std::path::{Path, PathBuf};

use iostudy_files::CallError;
use rustix::io::Errno;
use thiserror::Error;

/// Failure of an operation, with its file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// A system call failed.
    #[error("{}: {call} at byte {offset}: {errno}", path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// Name of the system call.
        call: &'static str,
        /// Byte offset in the file.
        offset: u64,
        /// Error number from the kernel.
        errno: Errno,
    },
    /// A memory allocation failed.
    #[error("no {bytes} bytes of memory: {errno}")]
    Memory {
        /// Size of the buffer.
        bytes: usize,
        /// Error number from the kernel.
        errno: Errno,
    },
    /// The data are invalid.
    #[error("{} {found}", path.display())]
    InvalidData {
        /// Path of the file or folder.
        path: PathBuf,
        /// Description that completes a sentence starting with the path.
        found: String,
    },
}

impl Fault {
    /// Map an errno to a fault of a call on a whole file or folder.
    pub(crate) fn io<'a>(path: &'a Path, call: &'static str) -> impl Fn(Errno) -> Self + 'a {
        move |errno| Self::io_at(path, call)(CallError { offset: 0, errno })
    }

    /// Map a partial transfer error to a fault of a call.
    pub(crate) fn io_at<'a>(path: &'a Path, call: &'static str) -> impl Fn(CallError) -> Self + 'a {
        move |CallError { offset, errno }| Self::Io {
            path: path.to_owned(),
            call,
            offset,
            errno,
        }
    }
}

/// Reason why a thread ended early.
pub(crate) type Halt = iostudy_worker_pool::Halt<Fault>;

/// Reason why a job produced no result.
#[derive(Debug, Error)]
pub enum Error {
    /// The first fault of any thread.
    #[error("{0}")]
    Fault(Fault),
    /// The system refused to start a thread.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
    /// The caller stopped the job.
    #[error("stopped before its end")]
    Stopped,
}

impl From<iostudy_worker_pool::Error<Fault>> for Error {
    fn from(error: iostudy_worker_pool::Error<Fault>) -> Self {
        match error {
            iostudy_worker_pool::Error::Fault { fault, .. } => Self::Fault(fault),
            iostudy_worker_pool::Error::Thread(source) => Self::Thread(source),
            iostudy_worker_pool::Error::Stopped => Self::Stopped,
        }
    }
}
