//! How a job can fail.

use std::io;
use std::path::{Path, PathBuf};

use iostudy_files::CallError;
use rustix::io::Errno;
use thiserror::Error;

/// What went wrong, and with which file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// The kernel refused a system call.
    #[error("{}: {call} at byte {offset}: {errno}", path.display())]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// The system call.
        call: &'static str,
        /// Where in the file.
        offset: u64,
        /// What the kernel said.
        errno: Errno,
    },
    /// There is no memory for a buffer.
    #[error("no {bytes} bytes of memory: {errno}")]
    Memory {
        /// Of the buffer.
        bytes: usize,
        /// What the kernel said.
        errno: Errno,
    },
    /// Data that are not what they should be.
    #[error("{} {found}", path.display())]
    Wrong {
        /// Which file or folder.
        path: PathBuf,
        /// What is wrong with it, as the end of a sentence that begins with the path.
        found: String,
    },
}

impl Fault {
    /// For `map_err`: a system call on a file or folder as a whole.
    pub(crate) fn io<'a>(path: &'a Path, call: &'static str) -> impl Fn(Errno) -> Self + 'a {
        move |errno| Self::io_at(path, call)(CallError { offset: 0, errno })
    }

    /// For `map_err`: a system call on part of a file.
    pub(crate) fn io_at<'a>(path: &'a Path, call: &'static str) -> impl Fn(CallError) -> Self + 'a {
        move |CallError { offset, errno }| Self::Io {
            path: path.to_owned(),
            call,
            offset,
            errno,
        }
    }
}

/// Why a thread ended before its work did.
pub(crate) type Halt = iostudy_worker_pool::Halt<Fault>;

/// Why a job did not come to its end.
#[derive(Debug, Error)]
pub enum Error {
    /// The first thing that went wrong, if there were several.
    #[error("{0}")]
    Fault(Fault),
    /// A thread could not be started.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
    /// The caller asked to stop.
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
