//! What each thread may take of the memory of a job.

use crate::buffer::{LARGEST_CALL_BYTES, whole_pages};
use crate::wordcount::job::CountJob;
use crate::wordcount::table::ARENA_PART;

/// With less, a thread does nothing but spill.
pub(crate) const LEAST_SHARE: usize = 1 << 20;

/// How the share of a thread is divided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    bytes: usize,
}

impl Share {
    pub(crate) fn of(job: &CountJob) -> Self {
        Self {
            bytes: job.memory_bytes / job.threads,
        }
    }

    /// Of one read or write call, in whole pages.
    pub(crate) fn buffer_bytes(self) -> usize {
        whole_pages((self.bytes / 16).min(LARGEST_CALL_BYTES))
    }

    /// The longest word that can be counted.
    pub(crate) fn longest_word(self) -> usize {
        self.table_bytes() / ARENA_PART
    }

    /// Beside it there are a buffer to read with, a long word in it, and a buffer to write with.
    pub(crate) fn table_bytes(self) -> usize {
        self.bytes / 4 * 3
    }

    /// What a thread takes while it counts, but for words longer than a buffer.
    pub(crate) fn counting_bytes(self) -> usize {
        self.table_bytes() + 2 * self.buffer_bytes()
    }

    /// For the buffers of the runs that are merged, beside the one that is written with.
    pub(crate) fn merge_bytes(self) -> usize {
        self.bytes - self.buffer_bytes()
    }
}
