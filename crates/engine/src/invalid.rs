//! Why a job cannot be carried out as asked.

use iostudy_pattern::PAGE_BYTES;
use thiserror::Error;

/// Why a job cannot be carried out as asked.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum Invalid {
    /// There is nothing to do.
    #[error("no paths given; give every thread at least one")]
    NoPaths,
    /// Threads whose random orders could not be alike.
    #[error("thread {thread} has {found} files and the first one {wanted}; give each as many")]
    UnequalThreads {
        /// Which one, from 0.
        thread: usize,
        /// Its files.
        found: usize,
        /// Those of the first.
        wanted: usize,
    },
    /// A size of zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Which one.
        name: &'static str,
    },
    /// A file that no kernel could address.
    #[error("begin_bytes and file_bytes are more than 2^63 - 1 together; make them smaller")]
    TooLarge,
    /// A record that does not fit into a file.
    #[error("record_bytes is {record_bytes}, more than file_bytes, {file_bytes}; make it smaller")]
    RecordLargerThanFile {
        /// As asked for.
        record_bytes: usize,
        /// As asked for.
        file_bytes: u64,
    },
    /// `O_DIRECT` moves whole pages only.
    #[error("{name} is {bytes}; direct I/O needs a multiple of {PAGE_BYTES}")]
    Unaligned {
        /// Which one.
        name: &'static str,
        /// As asked for.
        bytes: u64,
    },
    /// A number that is out of its range.
    #[error("{name} is {found}; allowed: {allowed}")]
    OutOfRange {
        /// Which one.
        name: &'static str,
        /// As asked for.
        found: f64,
        /// What may be asked for.
        allowed: &'static str,
    },
    /// What only a write has, asked of a read.
    #[error("{name} is for writing only")]
    OfWrites {
        /// Which one.
        name: &'static str,
    },
    /// A stream would have to be flushed and placed anew at every turn.
    #[error("stdio reads or writes, not both in one job")]
    MixByStdio,
    /// A device cannot be asked about what goes through the page cache.
    #[error("iopoll asks the device; it needs direct")]
    PollsCache,
    /// What goes on while a thread waits makes up for its waiting.
    #[error(
        "slow_down is exact only where nothing goes on while a thread waits; \
         it needs one thread, one record under way and direct"
    )]
    NotSlowedExactly,
    /// Files that are made anew hold nothing to be read.
    #[error("a job that creates its files has nothing to read; let it only write")]
    NothingToRead,
}
