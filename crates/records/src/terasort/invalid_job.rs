//! Reasons why a sort job is invalid.

use thiserror::Error;

/// Reasons why a sort job is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidJob {
    /// A number is zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Name of the option.
        name: &'static str,
    },
    /// No spill folder is given.
    #[error("no spill folders given; give at least one")]
    NoSpillFolders,
    /// The memory is too small.
    #[error(
        "memory is {given} bytes; {threads} threads that sort {rows} rows need at least {least} \
         bytes; give more memory, or fewer threads"
    )]
    Memory {
        /// Requested value.
        given: u64,
        /// Requested value.
        threads: usize,
        /// Requested value.
        rows: u64,
        /// Minimum memory in bytes.
        least: u64,
    },
}

impl InvalidJob {
    /// Return an error for the first zero.
    pub(crate) fn any_zero(numbers: &[(&'static str, u64)]) -> Result<(), Self> {
        match numbers.iter().find(|(_, number)| *number == 0) {
            Some((name, _)) => Err(Self::Zero { name }),
            None => Ok(()),
        }
    }
}
