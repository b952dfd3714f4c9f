//! What a job did otherwise than asked.

use std::fmt;

use rustix::io::Errno;

/// What the kernel does not allow, and what was done instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// No io_uring: its records went by pread(2) and pwrite(2), one at a time.
    NoIoUring {
        /// What the kernel said.
        errno: Errno,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NoIoUring { errno } => write!(
                f,
                "io_uring cannot be used here ({errno}): psync instead, with depth 1"
            ),
        }
    }
}
