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
    #[error("the buffers of io_uring are not registered ({errno}){}", reason(*errno))]
    BuffersUnregistered {
        /// What the kernel said.
        errno: Errno,
    },
}

/// What the kernel means by it when buffers are registered. Source: `io_uring_register(2)`;
/// `io_uring/rsrc.c` of the kernel.
fn reason(errno: Errno) -> &'static str {
    match errno {
        Errno::NOMEM => "; ulimit -l limits their memory",
        Errno::INVAL => "; before Linux 5.13 there may be 1024 of them, one for each of the depth",
        Errno::FAULT => "; none may be larger than 1 GiB, and each holds a record",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_that_are_not_registered_are_put_down_to_what_the_kernel_refused() {
        let told = |errno| Note::BuffersUnregistered { errno }.to_string();
        assert!(told(Errno::NOMEM).contains("ulimit -l"));
        assert!(told(Errno::INVAL).contains("1024"));
        assert!(told(Errno::FAULT).contains("1 GiB"));
        assert!(told(Errno::OPNOTSUPP).ends_with(')'));
    }
}
