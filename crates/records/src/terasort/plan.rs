//! Division of a sort's rows and memory.

use std::ops::Range;

use iostudy_pattern::PAGE_BYTES;
use thiserror::Error;

use super::row::ROW_BYTES;
use crate::file::{MAX_CALL_BYTES, MIN_CALL_BYTES, whole_pages};
use crate::reader::MIN_READER_BYTES;

/// Memory overhead of a thread: stack, histograms and huge page rounding.
const OVERHEAD_BYTES: usize = 6 << 20;

/// Memory of a row: the row and its sort entry.
const ROW_IN_MEMORY_BYTES: usize = ROW_BYTES + size_of::<u128>();

/// Key ranges per thread, for load balance.
const RANGES_PER_THREAD: usize = 4;

/// Maximum rows per chunk: row numbers have 32 bits.
const MAX_CHUNK_ROWS: u64 = u32::MAX as u64;

/// Plan of a sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Rows per chunk; the last chunk may have fewer.
    pub chunk_rows: u64,
    /// Number of chunks and of sorted runs.
    pub chunks: usize,
    /// I/O buffer size of the spill phase.
    pub chunk_buffer_bytes: usize,
    /// Key ranges per part; they are merged independently.
    pub slices: usize,
    /// Buffer size per run, and of the output, in the merge phase.
    pub merge_buffer_bytes: usize,
    /// Peak memory of buffers and tables.
    pub memory_bytes: u64,
}

/// Size and parallelism of a sort.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SortRequest {
    pub(crate) rows: u64,
    pub(crate) threads: usize,
    pub(crate) reducers: usize,
}

impl SortRequest {
    /// Plan a sort within a memory limit, if possible.
    pub(crate) fn plan(self, memory: u64) -> Option<Plan> {
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        let all = (memory / self.threads).checked_sub(OVERHEAD_BYTES)?;
        let mut plan = self.plan_for_share(all)?;
        // The table of range starts needs memory and grows with the number of runs.
        loop {
            let table = self.table_bytes(plan.chunks);
            let smaller = self.plan_for_share(all.checked_sub(table.div_ceil(self.threads))?)?;
            // The table estimate may be slightly too large; the exact one could oscillate.
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

    /// Plan with this buffer memory per thread.
    fn plan_for_share(self, memory: usize) -> Option<Plan> {
        let (chunk_rows, chunks) = self.chunks(memory)?;
        let most = MAX_CALL_BYTES + PAGE_BYTES;
        let merge_buffer_bytes = whole_pages(memory / (chunks + 1)).min(most);
        (merge_buffer_bytes >= MIN_CALL_BYTES + PAGE_BYTES).then_some(Plan {
            chunk_rows,
            chunks,
            chunk_buffer_bytes: call_bytes(memory),
            slices: self.slices(),
            merge_buffer_bytes,
            memory_bytes: 0,
        })
    }

    /// Minimum memory, rounded up to a MiB.
    pub(crate) fn min_memory(self) -> u64 {
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

    /// Rows per chunk and number of chunks: the fewest that fit, evenly divided over all threads.
    fn chunks(self, memory: usize) -> Option<(u64, usize)> {
        let buffers = 2 * call_bytes(memory);
        let most = memory.checked_sub(buffers)? / ROW_IN_MEMORY_BYTES;
        let most = (most as u64).min(MAX_CHUNK_ROWS);
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
    /// Rows of chunk `number`, of all `rows`.
    pub fn chunk(&self, number: usize, rows: u64) -> Range<u64> {
        let first = number as u64 * self.chunk_rows;
        first..rows.min(first + self.chunk_rows)
    }

    /// First key range of the part that merge `item` writes, and the range that it merges.
    /// Consecutive items are in different parts, because writers of one file block each other.
    pub fn ranges_of(&self, item: usize, reducers: usize) -> (usize, usize) {
        let first = item % reducers * self.slices;
        (first, first + item / reducers)
    }

    /// Buffer memory of a thread in the larger phase.
    fn buffers_bytes(&self) -> usize {
        let rows = usize::try_from(self.chunk_rows).expect("chunks fit into memory");
        let chunk = rows * ROW_IN_MEMORY_BYTES + 2 * self.chunk_buffer_bytes;
        chunk.max((self.chunks + 1) * self.merge_buffer_bytes)
    }
}

/// I/O buffer size of a thread with this memory.
fn call_bytes(memory: usize) -> usize {
    whole_pages(memory / 16).clamp(MIN_CALL_BYTES.max(MIN_READER_BYTES), MAX_CALL_BYTES)
}

/// Minimum memory limit in bytes for sorting this many rows.
pub fn min_memory(rows: u64, threads: usize, reducers: usize) -> u64 {
    let wanted = SortRequest {
        rows,
        threads,
        reducers,
    };
    wanted.min_memory()
}

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
            let wanted = SortRequest { rows, threads, reducers };
            let Some(plan) = wanted.plan(memory) else {
                prop_assert!(wanted.min_memory() > memory);
                return Ok(());
            };
            prop_assert!(wanted.min_memory() <= memory.next_multiple_of(1 << 20));
            prop_assert!(plan.memory_bytes + (threads * OVERHEAD_BYTES) as u64 <= memory);
            prop_assert!(plan.chunks as u64 * plan.chunk_rows >= rows);
            prop_assert!((plan.chunks as u64 - 1) * plan.chunk_rows < rows);
            prop_assert!(plan.slices * reducers >= threads);
        }

        #[test]
        fn the_least_memory_is_enough(
            rows in 1u64..1_000_000_000_000, threads in 1usize..65, reducers in 1usize..1000,
        ) {
            let wanted = SortRequest { rows, threads, reducers };
            prop_assert!(wanted.plan(wanted.min_memory()).is_some());
        }
    }
}
