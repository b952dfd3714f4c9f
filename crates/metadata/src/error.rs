//! How a job can fail.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;
use thiserror::Error;

/// What went wrong with one file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Fault {
    /// The kernel refused a system call.
    #[error("{call}: {errno}")]
    Io {
        /// The system call.
        call: &'static str,
        /// What the kernel said.
        errno: Errno,
    },
    /// A file of another size than it was given.
    #[error("has {found} bytes and not the {expected} that were written")]
    Size {
        /// Its size; where it was read and is too long, one more than expected.
        found: u64,
        /// The size it should have.
        expected: u64,
    },
    /// Data that differ from what was written.
    #[error("differs from what was written at byte {at}")]
    Differs {
        /// The first wrong byte.
        at: u64,
    },
    /// A directory with more or fewer names than were made in it.
    #[error("lists {found} names and not the {expected} that were made in it")]
    Names {
        /// As many as there are.
        found: u64,
        /// As many as there should be.
        expected: u64,
    },
    /// A directory with as many names as were made in it, but other ones.
    #[error("lists other names than were made in it")]
    OtherNames,
}

impl Fault {
    /// Of a system call, to be used with `map_err`.
    pub(crate) fn of(call: &'static str) -> impl Fn(Errno) -> Self {
        move |errno| Self::Io { call, errno }
    }
}

/// A fault and where it was met.
#[derive(Debug)]
pub(crate) struct Met {
    pub(crate) path: PathBuf,
    pub(crate) fault: Fault,
}

/// Why a thread ended before its work did.
pub(crate) type Halt = iostudy_worker_pool::Halt<Met>;

/// Why a job did not come to its end.
#[derive(Debug, Error)]
pub enum Error {
    /// An operation failed; the first one, if there were several.
    #[error("{}: {fault}", path.display())]
    Path {
        /// Of which file or directory.
        path: PathBuf,
        /// What went wrong.
        fault: Fault,
    },
    /// A thread could not be started.
    #[error("{0}")]
    Thread(io::Error),
    /// The caller asked to stop.
    #[error("stopped before its end")]
    Stopped,
}

impl From<iostudy_worker_pool::Error<Met>> for Error {
    fn from(error: iostudy_worker_pool::Error<Met>) -> Self {
        match error {
            iostudy_worker_pool::Error::Fault { fault, .. } => fault.into(),
            iostudy_worker_pool::Error::Thread(error) => Self::Thread(error),
            iostudy_worker_pool::Error::Stopped => Self::Stopped,
        }
    }
}

impl From<Met> for Error {
    fn from(Met { path, fault }: Met) -> Self {
        Self::Path { path, fault }
    }
}
