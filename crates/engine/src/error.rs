//! How a job can fail.

use std::io;
use std::path::PathBuf;

use iostudy_files::Refused;
use rustix::io::Errno;
use thiserror::Error;

/// What went wrong with one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Fault {
    /// The kernel refused a system call.
    #[error("{call} at byte {offset}: {errno}")]
    Io {
        /// The system call.
        call: &'static str,
        /// Where in the file.
        offset: u64,
        /// What the kernel said.
        errno: Errno,
    },
    /// A file that is shorter than what was written.
    #[error("ends at byte {at}, before its expected size of {expected} bytes")]
    EndsEarly {
        /// Where it ends.
        at: u64,
        /// The size it should have.
        expected: u64,
    },
    /// Data that differ from what was written.
    #[error("differs from what was written at byte {at}")]
    Differs {
        /// The first wrong byte.
        at: u64,
    },
}

impl Fault {
    /// For a call that failed at an offset.
    pub fn of(call: &'static str, offset: u64) -> impl Fn(Errno) -> Self {
        move |errno| Self::Io {
            call,
            offset,
            errno,
        }
    }

    /// For a call that failed on part of what it was given.
    pub(crate) fn at(call: &'static str) -> impl Fn(Refused) -> Self {
        move |Refused { offset, errno }| Self::of(call, offset)(errno)
    }

    /// For memory that could not be had.
    #[must_use]
    pub fn no_memory(error: &io::Error) -> Self {
        let errno = Errno::from_io_error(error).unwrap_or(Errno::NOMEM);
        Self::of("mmap", 0)(errno)
    }
}

/// A fault of one of a thread's files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileFault {
    /// Which of the thread's files, from 0.
    pub(crate) file: usize,
    pub(crate) fault: Fault,
}

impl FileFault {
    /// Puts a fault down to that file.
    pub(crate) fn of(file: usize) -> impl Fn(Fault) -> Self {
        move |fault| Self { file, fault }
    }
}

/// Why a thread ended before its work did.
pub(crate) type Halt = iostudy_crew::Halt<FileFault>;

/// Why a job did not come to its end.
#[derive(Debug, Error)]
pub enum Error {
    /// A file failed; the first one, if there were several.
    #[error("{}: {fault}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What went wrong.
        fault: Fault,
    },
    /// A thread could not be started.
    #[error("the threads of the job cannot be started: {0}")]
    Thread(#[from] io::Error),
    /// The caller asked to stop.
    #[error("stopped before its end")]
    Stopped,
}
