//! Execution of a workload with one thread per job.

use iostudy_engine::{Error, Fault};
use iostudy_pattern::Content;
use iostudy_windows::WindowLog;
use iostudy_worker_pool as worker_pool;

use crate::job::{JobResult, run_worker};
use crate::result::EventResult;
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
pub fn run(workload: &Workload, tick: impl FnMut(u64) -> bool) -> Result<EventResult, Error> {
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
    tick: impl FnMut(u64) -> bool,
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
    tick: impl FnMut(u64) -> bool,
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
