//! Deviations from the requested I/O method.

use rustix::io::Errno;
use thiserror::Error;

/// Deviation from the requested method because of a kernel restriction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Fallback {
    /// `io_uring` is not available; the job used pread(2) and pwrite(2) with depth 1.
    #[error("io_uring cannot be used here ({errno}): psync instead, with depth 1")]
    NoIoUring {
        /// Error number from the kernel.
        errno: Errno,
    },
    /// The kernel had to map the buffer of every record.
    #[error("the buffers of io_uring are not registered ({errno}){}", reason(*errno))]
    BuffersUnregistered {
        /// Error number from the kernel.
        errno: Errno,
    },
}

/// Explanation of an errno of buffer registration. Source: `io_uring_register(2)`;
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
    fn unregistered_buffers_have_an_explanation_of_the_errno() {
        let message = |errno| Fallback::BuffersUnregistered { errno }.to_string();
        assert!(message(Errno::NOMEM).contains("ulimit -l"));
        assert!(message(Errno::INVAL).contains("1024"));
        assert!(message(Errno::FAULT).contains("1 GiB"));
        assert!(message(Errno::OPNOTSUPP).ends_with(')'));
    }
}
