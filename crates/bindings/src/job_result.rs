//! Python classes of results.

use std::time::Duration;

use hdrhistogram::Histogram;
use iostudy_engine::IoStats as EngineStats;
use iostudy_engine::JobResult as EngineResult;
use iostudy_engine::{Fallback, Phases};
use iostudy_records::CallStats;
use pyo3::prelude::*;

use crate::getters::getters;
use crate::latencies::Latencies;

#[pyclass(frozen, module = "iostudy._native")]
pub struct JobResult(EngineResult);

impl From<EngineResult> for JobResult {
    fn from(result: EngineResult) -> Self {
        Self(result)
    }
}

getters!(JobResult, this {
    bytes: u64 = this.0.read.bytes + this.0.write.bytes;
    moved_bytes: u64 = this.0.moved_bytes;
    wall_seconds: f64 = this.0.wall.as_secs_f64();
    thread_seconds: Vec<f64> = this.0.threads.iter().map(Duration::as_secs_f64).collect();
    thread_phases: Vec<(f64, f64, f64, f64)> = this.0.phases.iter().map(phase_seconds).collect();
    read: IoStats = IoStats::from(&this.0.read);
    write: IoStats = IoStats::from(&this.0.write);
    sync: Latencies = Latencies::from(&this.0.sync);
    unissued: u64 = this.0.unissued;
    fallbacks: Vec<String> = this.0.fallbacks.iter().map(Fallback::to_string).collect();
    cpu_seconds: f64 = this.0.cpu_seconds;
});

fn phase_seconds(phases: &Phases) -> (f64, f64, f64, f64) {
    let Phases {
        open,
        records,
        sync,
        close,
    } = phases;
    let [open, records, sync, close] = [open, records, sync, close].map(Duration::as_secs_f64);
    (open, records, sync, close)
}

/// I/O statistics of one direction.
#[pyclass(frozen, module = "iostudy._native")]
pub struct IoStats {
    bytes: u64,
    latencies: Histogram<u64>,
}

impl IoStats {
    pub fn new(bytes: u64, latencies: &Histogram<u64>) -> Self {
        Self {
            bytes,
            latencies: latencies.clone(),
        }
    }
}

impl From<&EngineStats> for IoStats {
    fn from(stats: &EngineStats) -> Self {
        Self::new(stats.bytes, &stats.latencies)
    }
}

getters!(IoStats, this {
    bytes: u64 = this.bytes;
    latencies: Latencies = Latencies::from(&this.latencies);
});

/// Base class of each job's result.
#[pyclass(frozen, subclass, module = "iostudy._native")]
pub struct RecordsResult {
    wall: Duration,
    call_stats: CallStats,
}

impl RecordsResult {
    pub fn new(wall: Duration, call_stats: &CallStats) -> Self {
        Self {
            wall,
            call_stats: call_stats.clone(),
        }
    }
}

getters!(RecordsResult, this {
    wall_seconds: f64 = this.wall.as_secs_f64();
    read: IoStats = IoStats::new(this.call_stats.read_bytes, &this.call_stats.reads);
    write: IoStats = IoStats::new(this.call_stats.written_bytes, &this.call_stats.writes);
});
