//! What is asked for when words are to be counted, and what was measured.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::meter::Calls;
use crate::wordcount::memory::LEAST_SHARE;
use crate::wordcount::tally::Tally;

/// Texts whose words are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountJob {
    /// The texts; they are only read.
    pub inputs: Vec<PathBuf>,
    /// The folder that is made, with `part-r-00000` and so on.
    pub output: PathBuf,
    /// Existing folders for spill files, used in turn.
    pub spill: Vec<PathBuf>,
    /// What all threads together may take for their tables and buffers.
    pub memory_bytes: usize,
    /// How many threads count, and then merge.
    pub threads: usize,
    /// Into how many parts the words are divided.
    pub reducers: usize,
    /// End with what was counted on the disk.
    pub fsync: bool,
    /// What the texts hold, if that is known.
    pub expected: Option<Tally>,
}

/// Why words cannot be counted as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Invalid {
    /// No text to read or no folder to spill to.
    #[error("{name} is empty; give at least one")]
    None {
        /// Which list.
        name: &'static str,
    },
    /// A number of zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Which one.
        name: &'static str,
    },
    /// Too little memory for the threads.
    #[error("memory_bytes is {found}; {threads} threads need at least {least}")]
    Memory {
        /// As asked for.
        found: usize,
        /// As asked for.
        threads: usize,
        /// What would do.
        least: usize,
    },
}

impl CountJob {
    /// Check that the job can work at all; nothing is touched.
    ///
    /// # Errors
    ///
    /// The first reason why it cannot.
    pub fn validate(&self) -> Result<(), Invalid> {
        let lists = [("inputs", &self.inputs), ("spill", &self.spill)];
        if let Some((name, _)) = lists.into_iter().find(|(_, list)| list.is_empty()) {
            return Err(Invalid::None { name });
        }
        let numbers = [("threads", self.threads), ("reducers", self.reducers)];
        if let Some((name, _)) = numbers.into_iter().find(|(_, number)| *number == 0) {
            return Err(Invalid::Zero { name });
        }
        let least = self.threads.saturating_mul(LEAST_SHARE);
        if self.memory_bytes < least {
            return Err(Invalid::Memory {
                found: self.memory_bytes,
                threads: self.threads,
                least,
            });
        }
        Ok(())
    }
}

/// What was counted, and what was measured.
#[derive(Debug, Clone)]
pub struct CountResult {
    /// The size of all texts.
    pub text_bytes: u64,
    /// The words of the texts.
    pub tally: Tally,
    /// How many different words there are.
    pub distinct: u64,
    /// Bytes written to spill files.
    pub spilled_bytes: u64,
    /// How many sorted runs were spilled.
    pub runs: u64,
    /// What tables and buffers took while words were counted.
    pub memory_bytes: usize,
    /// The read and write calls from the first split to the last part; not those of verifying.
    pub calls: Calls,
    /// From the start to the last word counted and spilled.
    pub counting: Duration,
    /// From the start to the output's commit.
    pub wall: Duration,
}
