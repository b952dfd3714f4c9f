//! Definition, validation and result of word count jobs, and their memory.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::file::{MAX_CALL_BYTES, whole_pages};
use crate::meter::CallStats;
use crate::wordcount::table::{ARENA_PART, most_entries, slots};
use crate::wordcount::word::WordSummary;

/// Word count job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountJob {
    /// Input texts.
    pub inputs: Vec<PathBuf>,
    /// Output folder with `part-r-00000` and so on.
    pub output: PathBuf,
    /// Existing folders for spill files, used in turn.
    pub spill: Vec<PathBuf>,
    /// Memory limit of all tables and buffers together.
    pub memory_bytes: usize,
    /// Number of threads.
    pub threads: usize,
    /// Number of output parts.
    pub reducers: usize,
    /// Sync the output.
    pub fsync: bool,
    /// Expected words of the texts, if known.
    pub expected: Option<WordSummary>,
}

/// Reasons why a count job is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidCountJob {
    /// A list is empty.
    #[error("{name} is empty; give at least one")]
    None {
        /// Name of the list.
        name: &'static str,
    },
    /// A number is zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Name of the option.
        name: &'static str,
    },
    /// The memory is too small for the threads.
    #[error("memory_bytes is {found}; {threads} threads need at least {least}")]
    Memory {
        /// Requested value.
        found: usize,
        /// Requested value.
        threads: usize,
        /// Minimum memory.
        least: usize,
    },
}

impl CountJob {
    /// Memory of each thread.
    pub fn thread_memory(&self) -> ThreadMemory {
        ThreadMemory::new(self.memory_bytes, self.threads)
    }

    /// Check the job without touching any file.
    ///
    /// # Errors
    ///
    /// The first reason why the job is invalid.
    pub fn validate(&self) -> Result<(), InvalidCountJob> {
        let lists = [("inputs", &self.inputs), ("spill", &self.spill)];
        if let Some((name, _)) = lists.into_iter().find(|(_, list)| list.is_empty()) {
            return Err(InvalidCountJob::None { name });
        }
        let numbers = [("threads", self.threads), ("reducers", self.reducers)];
        if let Some((name, _)) = numbers.into_iter().find(|(_, number)| *number == 0) {
            return Err(InvalidCountJob::Zero { name });
        }
        let least = self.threads.saturating_mul(MIN_BYTES);
        if self.memory_bytes < least {
            return Err(InvalidCountJob::Memory {
                found: self.memory_bytes,
                threads: self.threads,
                least,
            });
        }
        Ok(())
    }
}

/// Counts and measurements of a job.
#[derive(Debug, Clone)]
pub struct CountResult {
    /// Size of all texts in bytes.
    pub text_bytes: u64,
    /// Summary of all words.
    pub summary: WordSummary,
    /// Number of distinct words.
    pub distinct_words: u64,
    /// Bytes written to spill files.
    pub spilled_bytes: u64,
    /// Number of spilled runs.
    pub runs: u64,
    /// Memory of tables and buffers in the counting phase.
    pub memory_bytes: usize,
    /// Read and write calls up to the last part, without verification.
    pub call_stats: CallStats,
    /// Duration of the counting phase, including spills.
    pub counting: Duration,
    /// Duration up to the commit of the output.
    pub wall: Duration,
}

/// Minimum memory of a thread; below it, counting would spill all the time.
pub(crate) const MIN_BYTES: usize = 1 << 20;

/// Memory of one thread.
#[derive(Debug, Clone, Copy)]
pub struct ThreadMemory {
    bytes: usize,
}

impl ThreadMemory {
    /// Divide the job's memory evenly.
    pub(crate) fn new(job_bytes: usize, threads: usize) -> Self {
        Self {
            bytes: job_bytes / threads,
        }
    }

    /// Buffer size of one I/O call, in whole pages.
    pub fn buffer_bytes(self) -> usize {
        whole_pages((self.bytes / 16).min(MAX_CALL_BYTES))
    }

    /// Longest countable word.
    pub(crate) fn longest_word(self) -> usize {
        self.table_bytes() / ARENA_PART
    }

    /// Different words that fill the table, if none is long.
    pub fn table_words(self) -> usize {
        most_entries(slots(self.table_bytes()))
    }

    /// Table size; the rest is for a read buffer, a long word and a write buffer.
    pub(crate) fn table_bytes(self) -> usize {
        self.bytes / 4 * 3
    }

    /// Memory of a counting thread, except for words longer than a buffer.
    pub fn counting_bytes(self) -> usize {
        self.table_bytes() + 2 * self.buffer_bytes()
    }

    /// Memory for the buffers of merged runs, without the write buffer.
    pub fn merge_bytes(self) -> usize {
        self.bytes - self.buffer_bytes()
    }
}
