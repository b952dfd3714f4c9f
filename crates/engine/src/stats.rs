//! I/O statistics of a direction and of a thread.

use iostudy_latency::{Latencies, empty_latencies, merge};

/// I/O statistics of one direction.
#[derive(Debug, Clone)]
pub struct IoStats {
    /// Number of bytes transferred.
    pub bytes: u64,
    /// Latencies of single records, in nanoseconds.
    pub latencies: Latencies,
}

impl IoStats {
    pub(crate) fn new() -> Self {
        Self {
            bytes: 0,
            latencies: empty_latencies(),
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        merge(&mut self.latencies, &other.latencies);
    }
}

/// I/O statistics of one thread.
pub(crate) struct ThreadStats {
    pub(crate) read: IoStats,
    pub(crate) write: IoStats,
    pub(crate) sync: Latencies,
    /// Bytes transferred, including the ramp time.
    pub(crate) moved_bytes: u64,
}

/// Direction of a record transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}
