//! Execution of a workload with one thread per job, and the measurements of all jobs.

use std::time::{Duration, Instant};

use iostudy_engine::{Error, Fault};
use iostudy_latency::{Latencies, empty_latencies, merge};
use iostudy_pattern::Content;
use iostudy_windows::WindowLog;
use iostudy_worker_pool as worker_pool;

use crate::job::{JobResult, run_worker};
use crate::workload::Workload;

/// Run a workload. `tick` is called about every 50 ms on the calling thread with the bytes read so
/// far. When it returns false, every job stops after its current read.
///
/// # Errors
///
/// The first error of any job, which stops the other jobs; [`Error::Stopped`] if the caller stopped
/// the run; [`Error::Thread`] if the system refuses a thread.
///
/// # Panics
///
/// If the workload is not valid; see [`Workload::validate`].
pub fn run(workload: &Workload, tick: &mut dyn FnMut(u64) -> bool) -> Result<EventResult, Error> {
    let jobs = execute(workload, None, tick)?;
    Ok(EventResult::merge(&jobs))
}

/// Repeat the events of every job, without the time limit, until `tick` returns false. A window of
/// `windows` counts events with their bytes and read latencies.
///
/// # Errors
///
/// As [`run`], except that a stop is the normal end.
///
/// # Panics
///
/// If the workload is not valid; see [`Workload::validate`].
pub fn repeat(
    workload: &Workload,
    windows: &WindowLog,
    tick: &mut dyn FnMut(u64) -> bool,
) -> Result<(), Error> {
    let endless = Workload {
        time: None,
        ..workload.clone()
    };
    match execute(&endless, Some(windows), tick) {
        Ok(_) | Err(Error::Stopped) => Ok(()),
        Err(error) => Err(error),
    }
}

fn execute(
    workload: &Workload,
    windows: Option<&WindowLog>,
    tick: &mut dyn FnMut(u64) -> bool,
) -> Result<Vec<JobResult>, Error> {
    workload.validate().expect("the workload must be valid");
    let content = Content::new(workload.seed, 0.0, 0)
        .map_err(|error| job_error(workload, 0, Fault::out_of_memory(&error)))?;
    match worker_pool::run(
        workload.jobs,
        |job| run_worker(workload, &content, windows, job),
        tick,
    ) {
        Ok(jobs) => Ok(jobs),
        Err(worker_pool::Error::Fault { worker, fault }) => Err(job_error(workload, worker, fault)),
        Err(worker_pool::Error::Thread(error)) => Err(Error::Thread(error)),
        Err(worker_pool::Error::Stopped) => Err(Error::Stopped),
    }
}

fn job_error(workload: &Workload, job: usize, fault: Fault) -> Error {
    Error::File {
        path: workload.path(job).to_owned(),
        fault,
    }
}

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
