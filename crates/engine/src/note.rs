//! What a job did otherwise than asked.

use rustix::io::Errno;
use thiserror::Error;

/// What the kernel does not allow, and what was done instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Note {
    /// No `io_uring`: its records went by pread(2) and pwrite(2), one at a time.
    #[error("io_uring cannot be used here ({errno}): psync instead, with depth 1")]
    NoIoUring {
        /// What the kernel said.
        errno: Errno,
    },
    /// The kernel had to look up the buffer of every record.
    #[error("the buffers of io_uring are not registered ({errno}); ulimit -l limits their memory")]
    BuffersUnregistered {
        /// What the kernel said.
        errno: Errno,
    },
}
