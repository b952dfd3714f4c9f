//! Division of the job's memory among threads.

use crate::buffer::{MAX_CALL_BYTES, whole_pages};
use crate::wordcount::table::{ARENA_PART, most_entries, slots};

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
    #[must_use]
    pub fn buffer_bytes(self) -> usize {
        whole_pages((self.bytes / 16).min(MAX_CALL_BYTES))
    }

    /// Longest countable word.
    pub(crate) fn longest_word(self) -> usize {
        self.table_bytes() / ARENA_PART
    }

    /// Different words that fill the table, if none is long.
    #[must_use]
    pub fn table_words(self) -> usize {
        most_entries(slots(self.table_bytes()))
    }

    /// Table size; the rest is for a read buffer, a long word and a write buffer.
    pub(crate) fn table_bytes(self) -> usize {
        self.bytes / 4 * 3
    }

    /// Memory of a counting thread, except for words longer than a buffer.
    #[must_use]
    pub fn counting_bytes(self) -> usize {
        self.table_bytes() + 2 * self.buffer_bytes()
    }

    /// Memory for the buffers of merged runs, without the write buffer.
    #[must_use]
    pub fn merge_bytes(self) -> usize {
        self.bytes - self.buffer_bytes()
    }
}
