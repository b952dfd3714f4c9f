//! Figures of a simulation.

use iostudy_latency::{IoStats, Latencies, empty_latencies};
use iostudy_schedulers::Nanos;

/// Figures of a thread after the ramp.
#[derive(Clone, Debug)]
pub struct ThreadFigures {
    /// Read operations.
    pub read: IoStats,
    /// Write operations.
    pub write: IoStats,
    /// Latencies of syncs in nanoseconds.
    pub sync: Latencies,
    /// Bytes moved, those of the ramp included.
    pub moved: u64,
    /// Time of the start, or the end of the ramp if that is later.
    pub started: Nanos,
    /// Time of the end of the last operation.
    pub ended: Nanos,
    /// Time of the end of the last operation that is no sync.
    pub records_ended: Nanos,
    /// Processor time.
    pub processor: Nanos,
}

impl ThreadFigures {
    pub(crate) fn new(started: Nanos) -> Self {
        Self {
            read: IoStats::new(),
            write: IoStats::new(),
            sync: empty_latencies(),
            moved: 0,
            started,
            ended: started,
            records_ended: started,
            processor: 0,
        }
    }
}

/// Completed requests of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionCounters {
    /// Requests that the drive completed.
    pub requests: u64,
    /// Bios that joined a request.
    pub merged: u64,
    /// Sectors.
    pub sectors: u64,
    /// Sum of the times from allocation to completion.
    pub waited: Nanos,
}

/// Counters of the device, like those of `/proc/diskstats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Reads.
    pub read: DirectionCounters,
    /// Writes.
    pub write: DirectionCounters,
    /// Flush commands.
    pub flushes: u64,
    /// Time with at least one request.
    pub busy: Nanos,
    /// Time in which requests were queued and the drive had none.
    pub idle: Nanos,
    /// Requests that do not begin at the end of the previous one.
    pub seeks: u64,
}

/// Figures of a simulation.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Figures of each thread, in their order.
    pub threads: Vec<ThreadFigures>,
    /// Counters of the device, from the start to the end of the last thread.
    pub device: DeviceCounters,
    /// Time from the start to the end of the last thread.
    pub duration: Nanos,
    /// Events that the simulation processed.
    pub events: u64,
}
