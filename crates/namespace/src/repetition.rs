//! Repetition of a job's operations, for windows of a steady state.

use iostudy_windows::WindowLog;

use crate::error::{Error, FailedLog};
use crate::handler_group::{Halt, HandlerGroup, Worker, WorkerResult};
use crate::job::Job;
use crate::namespace::Namespace;
use crate::operation::Operation;
use crate::phase::prepare;

impl Job {
    /// Whether the operations leave the files as they find them.
    pub fn is_cycle(&self) -> bool {
        let start = self.files_before();
        let end = self
            .operations
            .iter()
            .try_fold(start, |files, operation| files.after(*operation));
        end == Some(start) && !self.operations.contains(&Operation::Mkdirs)
    }
}

/// Repeat all operations on one group of files after another until `tick` returns false. A window
/// of `windows` counts each operation of the job. Return the log directories that failed.
///
/// # Errors
///
/// As [`crate::run`], except that a stop is the normal end.
///
/// # Panics
///
/// If the job is not valid or no cycle; see [`Job::validate`] and [`Job::is_cycle`].
pub fn repeat(
    job: &Job,
    windows: &WindowLog,
    tick: &mut dyn FnMut(u64) -> bool,
) -> Result<Vec<FailedLog>, Error> {
    job.validate().expect("the job must be valid");
    assert!(job.is_cycle(), "the job must be a cycle");
    let namespace = Namespace::format(job.log.clone())?;
    let work = |worker: &Worker| -> Result<WorkerResult, Halt> {
        worker.wait_for_start();
        HandlerGroup::start(job, &namespace, worker, windows.cursor()).repeat(job.files_before())
    };
    let outcome = prepare(job, &namespace, &mut || tick(0))
        .and_then(|_| Ok(iostudy_worker_pool::run(job.workers, work, tick)?));
    match outcome {
        Ok(_) | Err(Error::Stopped) => {}
        Err(error) => return Err(error),
    }
    let (_, failed_logs) = namespace.close()?;
    Ok(failed_logs)
}
