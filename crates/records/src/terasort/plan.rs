//! How a sort divides its rows and its memory.

use iostudy_pattern::PAGE_BYTES;

use super::row::ROW_BYTES;
use crate::buffer::{LARGEST_CALL_BYTES, SMALLEST_CALL_BYTES, whole_pages};
use crate::reader::MIN_READER_BYTES;

/// What a thread takes beside its buffers: its stack, its histograms, and what huge pages round up.
const OVERHEAD_BYTES: usize = 6 << 20;

/// A row in memory: itself, and the entry that is sorted in its place.
const ROW_IN_MEMORY_BYTES: usize = ROW_BYTES + size_of::<u128>();

/// Ranges of keys per thread, so that threads end at about the same time.
const RANGES_PER_THREAD: usize = 4;

/// The largest number of rows in a chunk: their numbers have 32 bits.
const MOST_CHUNK_ROWS: u64 = u32::MAX as u64;

/// How a sort is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Rows that are sorted in memory at a time; the last chunk may have fewer.
    pub(crate) chunk_rows: u64,
    /// How many such chunks, and sorted runs, there are.
    pub(crate) chunks: usize,
    /// The buffer of one call while chunks are sorted.
    pub(crate) chunk_buffer_bytes: usize,
    /// Ranges of keys into which each part is divided; they are merged independently.
    pub(crate) slices: usize,
    /// The buffer of each run, and of the output, while a range is merged.
    pub(crate) merge_buffer_bytes: usize,
    /// The most that buffers and tables take at a time.
    pub(crate) memory_bytes: u64,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) rows: u64,
    pub(crate) threads: usize,
    pub(crate) reducers: usize,
}

impl Wanted {
    /// How to sort within a memory limit, if that can be.
    pub(crate) fn plan(self, memory: u64) -> Option<Plan> {
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        let all = (memory / self.threads).checked_sub(OVERHEAD_BYTES)?;
        let mut plan = self.plan_for_share(all)?;
        // The table of where ranges begin in the runs takes its part, and grows with the runs.
        loop {
            let table = self.table_bytes(plan.chunks);
            let smaller = self.plan_for_share(all.checked_sub(table.div_ceil(self.threads))?)?;
            // The table may be a little too large: the right one could lead back to where it began.
            if smaller.chunks <= plan.chunks {
                let memory = smaller.buffers_bytes() * self.threads + table;
                return Some(Plan {
                    memory_bytes: memory as u64,
                    ..smaller
                });
            }
            plan = smaller;
        }
    }

    /// With so much memory for the buffers of each thread.
    fn plan_for_share(self, share: usize) -> Option<Plan> {
        let (chunk_rows, chunks) = self.chunks(share)?;
        let most = LARGEST_CALL_BYTES + PAGE_BYTES;
        let merge_buffer_bytes = whole_pages(share / (chunks + 1)).min(most);
        (merge_buffer_bytes >= SMALLEST_CALL_BYTES + PAGE_BYTES).then_some(Plan {
            chunk_rows,
            chunks,
            chunk_buffer_bytes: call_bytes(share),
            slices: self.slices(),
            merge_buffer_bytes,
            memory_bytes: 0,
        })
    }

    /// The smallest memory that is enough, to a MiB.
    pub(crate) fn least_memory(self) -> u64 {
        let mib = 1 << 20;
        let (mut too_small, mut enough) = (0, u64::from(u32::MAX));
        while enough - too_small > 1 {
            let tried = u64::midpoint(too_small, enough);
            match self.plan(tried * mib) {
                Some(_) => enough = tried,
                None => too_small = tried,
            }
        }
        enough * mib
    }

    /// Rows per chunk and number of chunks: as few as fit, in even shares, all threads busy.
    fn chunks(self, share: usize) -> Option<(u64, usize)> {
        let buffers = 2 * call_bytes(share);
        let most = share.checked_sub(buffers)? / ROW_IN_MEMORY_BYTES;
        let most = (most as u64).min(MOST_CHUNK_ROWS);
        if most == 0 {
            return None;
        }
        let chunks = self
            .rows
            .div_ceil(most)
            .next_multiple_of(self.threads as u64);
        let chunk_rows = self.rows.div_ceil(chunks);
        let chunks = usize::try_from(self.rows.div_ceil(chunk_rows)).ok()?;
        Some((chunk_rows, chunks))
    }

    fn slices(self) -> usize {
        (self.threads * RANGES_PER_THREAD).div_ceil(self.reducers)
    }

    fn table_bytes(self, runs: usize) -> usize {
        let ranges = self.slices() * self.reducers;
        runs.saturating_mul(ranges + 1)
            .saturating_mul(size_of::<u64>())
    }
}

impl Plan {
    /// What the buffers of a thread take, in the phase that takes more.
    fn buffers_bytes(&self) -> usize {
        let rows = usize::try_from(self.chunk_rows).expect("chunks fit into memory");
        let chunk = rows * ROW_IN_MEMORY_BYTES + 2 * self.chunk_buffer_bytes;
        chunk.max((self.chunks + 1) * self.merge_buffer_bytes)
    }
}

/// The buffer of one call, of a thread with so much memory.
fn call_bytes(share: usize) -> usize {
    whole_pages(share / 16).clamp(
        SMALLEST_CALL_BYTES.max(MIN_READER_BYTES),
        LARGEST_CALL_BYTES,
    )
}

/// The smallest memory limit, in bytes, with which so many rows can be sorted.
#[must_use]
pub fn least_memory(rows: u64, threads: usize, reducers: usize) -> u64 {
    let wanted = Wanted {
        rows,
        threads,
        reducers,
    };
    wanted.least_memory()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keeps_to_its_memory_and_covers_all_rows(
            rows in 1u64..10_000_000_000,
            memory in 1u64..4 << 30,
            threads in 1usize..9,
            reducers in 1usize..1000,
        ) {
            let wanted = Wanted { rows, threads, reducers };
            let Some(plan) = wanted.plan(memory) else {
                prop_assert!(wanted.least_memory() > memory);
                return Ok(());
            };
            prop_assert!(wanted.least_memory() <= memory.next_multiple_of(1 << 20));
            prop_assert!(plan.memory_bytes + (threads * OVERHEAD_BYTES) as u64 <= memory);
            prop_assert!(plan.chunks as u64 * plan.chunk_rows >= rows);
            prop_assert!((plan.chunks as u64 - 1) * plan.chunk_rows < rows);
            prop_assert!(plan.slices * reducers >= threads);
        }

        #[test]
        fn the_least_memory_is_enough(
            rows in 1u64..1_000_000_000_000, threads in 1usize..65, reducers in 1usize..1000,
        ) {
            let wanted = Wanted { rows, threads, reducers };
            prop_assert!(wanted.plan(wanted.least_memory()).is_some());
        }
    }
}
