//! Truncation of files, one thread per file.

use std::path::PathBuf;
use std::time::Instant;

use iostudy_files::open_own;
use iostudy_windows::WindowCursor;
use iostudy_worker_pool as worker_pool;
use rustix::fs::{OFlags, ftruncate};
use rustix::io::retry_on_intr;

use crate::error::{Error, Fault, FileFault, Halt};
use crate::files::Files;
use crate::invalid_job::InvalidJob;
use crate::job::SyncCall;
use crate::meter::Direction;
use crate::meter::Meter;
use crate::meter::Worker;
use crate::result::{JobResult, Phases, ThreadResult};
use crate::run::{cpu_seconds, into_error};

/// Truncation job.
#[derive(Debug, Clone)]
pub struct Truncation {
    /// Files to truncate, one thread each.
    pub paths: Vec<PathBuf>,
    /// New size in bytes.
    pub bytes: u64,
    /// Sync call after the truncation, inside the measured time.
    pub sync: Option<SyncCall>,
}

impl Truncation {
    /// Check that the job has paths, without touching any file.
    ///
    /// # Errors
    ///
    /// The reason why the job is invalid.
    pub fn validate(&self) -> Result<(), InvalidJob> {
        if self.paths.is_empty() {
            return Err(InvalidJob::NoPaths);
        }
        Ok(())
    }
}

/// Truncate all files. In the result each file counts as a write of no bytes, from open to close.
/// `tick` is called about every 50 ms. When it returns false, files that have not been started keep
/// their size.
///
/// # Errors
///
/// As [`crate::run`].
///
/// # Panics
///
/// If the job is not valid; see [`Truncation::validate`].
pub fn truncate(job: &Truncation, tick: &mut dyn FnMut(u64) -> bool) -> Result<JobResult, Error> {
    job.validate().expect("the job must be valid");
    worker_pool::run(job.paths.len(), |worker| run_worker(job, worker), tick)
        .map(JobResult::merge)
        .map_err(|error| into_error(error, |worker, _| &job.paths[worker]))
}

fn run_worker(job: &Truncation, worker: &Worker) -> Result<ThreadResult, Halt> {
    worker.wait_for_start();
    worker.check_stop()?;
    let cpu_before = cpu_seconds();
    let started = Instant::now();
    let mut meter = Meter::new(worker, started, WindowCursor::without_log());
    let file = open_own(&job.paths[worker.index()], OFlags::WRONLY)
        .map_err(Fault::in_call("open", 0))
        .map_err(FileFault::in_file(0))?;
    let opened = Instant::now();
    retry_on_intr(|| ftruncate(&file, job.bytes))
        .map_err(Fault::in_call("ftruncate", job.bytes))
        .map_err(FileFault::in_file(0))?;
    let truncated = Instant::now();
    let files = Files::from(vec![file]);
    let synced = match job.sync {
        Some(call) => files.sync_one(0, call, truncated, &mut meter)?,
        None => truncated,
    };
    files.close()?;
    let closed = Instant::now();
    meter.record_transfer(Direction::Write, started, 0, closed);
    Ok(ThreadResult {
        started,
        ended: closed,
        phases: Phases {
            open: opened - started,
            records: truncated - opened,
            sync: synced - truncated,
            close: closed - synced,
        },
        cpu_seconds: cpu_seconds() - cpu_before,
        unissued: 0,
        stats: meter.into_stats(),
        fallback: None,
    })
}
