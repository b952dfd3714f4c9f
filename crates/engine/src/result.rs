//! What a job measured.

use std::time::{Duration, Instant};

use crate::file::FileTimes;
use crate::meter::{Latencies, no_latencies};

/// What a job measured.
#[derive(Debug, Clone)]
pub struct JobResult {
    /// All bytes moved.
    pub bytes: u64,
    /// From the first start to the last end.
    pub wall: Duration,
    /// Each file from open to close, in the order of the job's paths.
    pub files: Vec<Duration>,
    /// How long single records took, in nanoseconds.
    pub latencies: Latencies,
}

impl JobResult {
    /// Gather what was measured on each file, all of `file_bytes`.
    pub(crate) fn gather(file_bytes: u64, times: &[FileTimes]) -> Self {
        let mut latencies = no_latencies();
        for file in times {
            latencies
                .add(&file.latencies)
                .expect("a histogram that grows takes every value");
        }
        Self {
            bytes: file_bytes * times.len() as u64,
            wall: wall(times).unwrap_or_default(),
            files: times.iter().map(|file| file.ended - file.started).collect(),
            latencies,
        }
    }
}

fn wall(times: &[FileTimes]) -> Option<Duration> {
    let start: Instant = times.iter().map(|file| file.started).min()?;
    let end: Instant = times.iter().map(|file| file.ended).max()?;
    Some(end - start)
}
