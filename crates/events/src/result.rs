//! What all jobs measured together.

use std::time::{Duration, Instant};

use iostudy_latency::{Latencies, add, no_latencies};

use crate::job::JobResult;

/// What was measured.
#[derive(Debug, Clone)]
pub struct EventResult {
    /// Events that were read and computed before the time was up.
    pub events: u64,
    /// All bytes that jobs read, those of events that were not ended included.
    pub read_bytes: u64,
    /// Bytes that the kernel fetched from storage for them, read-ahead included; `None` where it
    /// does not say.
    pub fetched_bytes: Option<u64>,
    /// From the first start to the last end.
    pub wall: Duration,
    /// Each job from opening its file to its last event, or to when the time was up.
    pub jobs: Vec<Duration>,
    /// How long it took to read each event that counts, in nanoseconds.
    pub latencies: Latencies,
}

impl EventResult {
    /// Put together what the jobs measured.
    pub(crate) fn gather(jobs: &[JobResult]) -> Self {
        let mut latencies = no_latencies();
        for job in jobs {
            add(&mut latencies, &job.latencies);
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
