//! Reasons why a job is invalid.

use iostudy_pattern::PAGE_BYTES;
use thiserror::Error;

/// Reasons why a job is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum InvalidJob {
    /// The job has no paths.
    #[error("no paths given; give every thread at least one")]
    NoPaths,
    /// Threads have different numbers of files.
    #[error("thread {thread} has {found} files and the first one {expected}; give each as many")]
    UnequalThreads {
        /// Index of the thread, from 0.
        thread: usize,
        /// Number of its files.
        found: usize,
        /// Number of files of the first thread.
        expected: usize,
    },
    /// A size is zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Name of the option.
        name: &'static str,
    },
    /// The file exceeds the kernel's largest offset.
    #[error("begin_bytes and file_bytes are more than 2^63 - 1 together; make them smaller")]
    TooLarge,
    /// A record is larger than its file.
    #[error("record_bytes is {record_bytes}, more than file_bytes, {file_bytes}; make it smaller")]
    RecordLargerThanFile {
        /// Requested value.
        record_bytes: usize,
        /// Requested value.
        file_bytes: u64,
    },
    /// `O_DIRECT` transfers whole pages only.
    #[error("{name} is {bytes}; direct I/O needs a multiple of {PAGE_BYTES}")]
    Unaligned {
        /// Name of the option.
        name: &'static str,
        /// Requested value.
        bytes: u64,
    },
    /// A number is out of its range.
    #[error("{name} is {found}; allowed: {allowed}")]
    OutOfRange {
        /// Name of the option.
        name: &'static str,
        /// Requested value.
        found: f64,
        /// Allowed range.
        allowed: &'static str,
    },
    /// A read has an option that applies to writes only.
    #[error("{name} is for writing only")]
    WriteOnlyOption {
        /// Name of the option.
        name: &'static str,
    },
    /// A stream would need a flush and a seek between reads and writes.
    #[error("stdio reads or writes, not both in one job")]
    MixedStdio,
    /// Polling does not work through the page cache.
    #[error("iopoll polls the device; it needs direct")]
    BufferedPolling,
    /// Concurrent work during a wait would compensate for the slow-down.
    #[error(
        "slow_down is exact only without concurrent I/O; \
         it needs one thread, one record in flight and direct"
    )]
    InexactSlowdown,
    /// Another pace determines when records start.
    #[error(
        "slow_down applies to a closed loop without think time; \
         leave rate, think_seconds and arrival out"
    )]
    PacedSlowdown,
    /// New files contain nothing to read.
    #[error("a job that creates its files has nothing to read; let it only write")]
    NothingToRead,
}
