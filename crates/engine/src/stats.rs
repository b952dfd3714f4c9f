//! I/O statistics of a thread.

use iostudy_latency::{IoStats, Latencies, empty_latencies};
use iostudy_windows::Counts;

/// I/O statistics of one thread.
pub(crate) struct ThreadStats {
    pub(crate) read: IoStats,
    pub(crate) write: IoStats,
    pub(crate) sync: Latencies,
    /// Bytes transferred, including the ramp time.
    pub(crate) moved_bytes: u64,
}

impl ThreadStats {
    pub(crate) fn new() -> Self {
        Self {
            read: IoStats::new(),
            write: IoStats::new(),
            sync: empty_latencies(),
            moved_bytes: 0,
        }
    }

    /// Counts of a window: reads, writes and sync calls.
    pub(crate) fn counts(&self) -> Counts {
        let sync = IoStats {
            bytes: 0,
            latencies: self.sync.clone(),
        };
        vec![self.read.clone(), self.write.clone(), sync]
    }
}

/// Direction of a record transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}
