//! Figures of a simulation.

use std::time::Duration;

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
    /// Phases in their order, of a source that has phases.
    pub phases: Vec<PhaseFigures>,
    /// Steps in their order, of a source that has a script.
    pub timed_steps: Vec<TimedStep>,
}

/// Time of a step. Times are from the start of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedStep {
    /// Label that the script gave it.
    pub label: u64,
    /// Time of its start.
    pub began: Nanos,
    /// Time of its end.
    pub ended: Nanos,
}

/// Figures of a thread in a phase. Times are from the start of the job.
#[derive(Clone, Debug)]
pub struct PhaseFigures {
    /// Time of the start.
    pub began: Nanos,
    /// Time of the end.
    pub ended: Nanos,
    /// Latencies of items in nanoseconds.
    pub items: Latencies,
}

impl PhaseFigures {
    pub(crate) fn new(began: Nanos) -> Self {
        Self {
            began,
            ended: began,
            items: empty_latencies(),
        }
    }
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
            phases: Vec::new(),
            timed_steps: Vec::new(),
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

/// A round that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoppedRound {
    /// Time of its start, from the start of the simulation.
    pub began: Nanos,
    /// Bytes that its threads had moved.
    pub moved: u64,
}

/// A complete round of a job. Times are from the start of the simulation.
#[derive(Clone, Debug)]
pub struct Round {
    /// Time of its start.
    pub began: Nanos,
    /// Time of the end of its last thread.
    pub ended: Nanos,
    /// Figures of each thread, in their order.
    pub threads: Vec<ThreadFigures>,
}

impl Round {
    /// Time from its start to its end.
    pub const fn duration(&self) -> Duration {
        Duration::from_nanos(self.ended - self.began)
    }
}

/// Figures of a job.
#[derive(Clone, Debug, Default)]
pub struct JobFigures {
    /// Its complete rounds.
    pub rounds: Vec<Round>,
    /// A round that was stopped.
    pub stopped: Option<StoppedRound>,
}

/// Figures of a simulation.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Figures of each job, in their order.
    pub jobs: Vec<JobFigures>,
    /// Counters of the device, from the start to the end.
    pub device: DeviceCounters,
    /// Counters of each drive of a volume.
    pub drives: Vec<DeviceCounters>,
    /// Time from the start to the end of the last job that does not repeat.
    pub duration: Nanos,
    /// Events that the simulation processed.
    pub events: u64,
}
