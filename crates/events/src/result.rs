//! Combined measurements of all jobs.

use std::time::{Duration, Instant};

use iostudy_latency::{Latencies, empty_latencies, merge};

use crate::job::JobResult;

/// Measurements of a workload.
#[derive(Debug, Clone)]
pub struct EventResult {
    /// Number of events read and computed before the deadline.
    pub events: u64,
    /// Bytes read by all jobs, including those of unfinished events.
    pub read_bytes: u64,
    /// Bytes that the kernel fetched from storage, including read-ahead; `None` where the kernel
    /// has no I/O accounting.
    pub fetched_bytes: Option<u64>,
    /// First start to last end.
    pub wall: Duration,
    /// Duration of each job from opening its file to its last event or the deadline.
    pub jobs: Vec<Duration>,
    /// Read latencies of counted events, in nanoseconds.
    pub latencies: Latencies,
}

impl EventResult {
    /// Merge the measurements of the jobs.
    pub(crate) fn merge(jobs: &[JobResult]) -> Self {
        let mut latencies = empty_latencies();
        for job in jobs {
            merge(&mut latencies, &job.latencies);
        }
        Self {
            events: jobs.iter().map(|job| job.events).sum(),
            read_bytes: jobs.iter().map(|job| job.read_bytes).sum(),
            fetched_bytes: jobs.iter().map(|job| job.fetched_bytes).sum(),
            wall: wall(jobs).unwrap_or_default(),
            jobs: jobs.iter().map(|job| job.ended - job.started).collect(),
            latencies,
        }
    }
}

fn wall(jobs: &[JobResult]) -> Option<Duration> {
    let start: Instant = jobs.iter().map(|job| job.started).min()?;
    let end: Instant = jobs.iter().map(|job| job.ended).max()?;
    Some(end - start)
}
