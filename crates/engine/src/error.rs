//! Errors of jobs and of single files.

use std::io;
use std::path::PathBuf;

use iostudy_files::CallError;
use rustix::io::Errno;
use thiserror::Error;

/// Failure of an operation on one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Fault {
    /// A system call failed.
    #[error("{call} at byte {offset}: {errno}")]
    Io {
        /// Name of the system call.
        call: &'static str,
        /// Byte offset in the file.
        offset: u64,
        /// Error number from the kernel.
        errno: Errno,
    },
    /// The file is shorter than expected.
    #[error("ends at byte {at}, before its expected size of {expected} bytes")]
    UnexpectedEof {
        /// Offset of the end of the file.
        at: u64,
        /// Expected file size in bytes.
        expected: u64,
    },
    /// The data differ from what was written.
    #[error("differs from what was written at byte {at}")]
    DataMismatch {
        /// Offset of the first wrong byte.
        at: u64,
    },
}

impl Fault {
    /// Map an errno to a fault of `call` at `offset`.
    pub fn in_call(call: &'static str, offset: u64) -> impl Fn(Errno) -> Self {
        move |errno| Self::Io {
            call,
            offset,
            errno,
        }
    }

    /// Map a partial transfer error to a fault of `call`.
    pub(crate) fn from_call_error(call: &'static str) -> impl Fn(CallError) -> Self {
        move |CallError { offset, errno }| Self::in_call(call, offset)(errno)
    }

    /// Fault for a failed memory allocation.
    pub fn out_of_memory(error: &io::Error) -> Self {
        let errno = Errno::from_io_error(error).unwrap_or(Errno::NOMEM);
        Self::in_call("mmap", 0)(errno)
    }
}

/// Fault of one of a thread's files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileFault {
    /// Index among the thread's files, from 0.
    pub(crate) file: usize,
    pub(crate) fault: Fault,
}

impl FileFault {
    /// Attach a file index to a fault.
    pub(crate) fn in_file(file: usize) -> impl Fn(Fault) -> Self {
        move |fault| Self { file, fault }
    }
}

/// Reason why a thread ended early.
pub(crate) type Halt = iostudy_worker_pool::Halt<FileFault>;

/// Reason why a job produced no result.
#[derive(Debug, Error)]
pub enum Error {
    /// A file failed. With several failures this is the first one.
    #[error("{}: {fault}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The failure.
        fault: Fault,
    },
    /// The system refused to start a thread.
    #[error("the threads of the job cannot be started: {0}")]
    Thread(#[from] io::Error),
    /// The caller stopped the job.
    #[error("stopped before its end")]
    Stopped,
}
