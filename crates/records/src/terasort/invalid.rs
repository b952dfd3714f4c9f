//! Why a job cannot be carried out as asked.

use thiserror::Error;

/// Why a job cannot be carried out as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Invalid {
    /// A number of zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Which one.
        name: &'static str,
    },
    /// Nowhere to spill to.
    #[error("no spill folders given; give at least one")]
    NoSpillFolders,
    /// Memory that the sort cannot keep to.
    #[error(
        "memory is {given} bytes; {threads} threads that sort {rows} rows need at least {least} \
         bytes; give more memory, or fewer threads"
    )]
    Memory {
        /// As asked for.
        given: u64,
        /// As asked for.
        threads: usize,
        /// As asked for.
        rows: u64,
        /// What would be enough.
        least: u64,
    },
}

impl Invalid {
    /// The first of the named numbers that is zero, as an error.
    pub(crate) fn any_zero(numbers: &[(&'static str, u64)]) -> Result<(), Self> {
        match numbers.iter().find(|(_, number)| *number == 0) {
            Some((name, _)) => Err(Self::Zero { name }),
            None => Ok(()),
        }
    }
}
