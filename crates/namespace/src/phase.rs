//! Execution of a job phase by phase, and verification of its log.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use iostudy_latency::{Latencies, empty_latencies, merge};
use iostudy_windows::WindowCursor;

use crate::error::{Error, FailedLog};
use crate::handler_group::{Halt, HandlerGroup, MAX_WAIT, Worker, WorkerResult};
use crate::job::Job;
use crate::mutation::Mutation;
use crate::namespace::Namespace;
use crate::operation::{FileState, Operation, PathBuilder};
use crate::progress::{LogStatistics, WaitTimes};
use crate::recovery::recover;
use crate::tree::Tree;

/// Measurements of one phase.
#[derive(Debug, Clone)]
pub struct Phase {
    /// Operation of the phase.
    pub operation: Operation,
    /// First start to last acknowledgement.
    pub wall: Duration,
    /// Latency of each operation up to its acknowledgement, in nanoseconds.
    pub latencies: Latencies,
    /// Log statistics of the phase.
    pub log: LogStatistics,
    /// Total wait times of the workers.
    pub wait_times: WaitTimes,
    /// Total time for writing images.
    pub checkpoints: Duration,
}

/// Outcome of a job.
#[derive(Debug)]
pub struct Outcome {
    /// Phases in job order.
    pub phases: Vec<Phase>,
    /// Log directories that failed.
    pub failed_logs: Vec<FailedLog>,
    served: ServedTree,
}

/// Run a job. [`Outcome::verify`] compares its log with the served tree.
///
/// `tick` is called about every 50 ms on the calling thread with the operations completed so far.
/// When it returns false, every worker stops. Written files remain, also after an error.
///
/// # Errors
///
/// The first error of any worker.
///
/// # Panics
///
/// If the job is not valid; see [`Job::validate`].
pub fn run(job: &Job, tick: &mut dyn FnMut(u64) -> bool) -> Result<Outcome, Error> {
    job.validate().expect("the job must be valid");
    let namespace = Namespace::format(job.log.clone())?;
    let mut files = prepare(job, &namespace, &mut || tick(0))?;
    let mut phases = Vec::with_capacity(job.operations.len());
    let mut done_before = 0;
    for operation in job.operations.iter().copied() {
        let step = (operation, files);
        let phase = run_phase(job, &namespace, step, &mut |done| tick(done_before + done))?;
        done_before += phase.latencies.len();
        phases.push(phase);
        files = files.after(operation).expect("the order was validated");
    }
    let (served, failed_logs) = namespace.close()?;
    Ok(Outcome {
        phases,
        failed_logs,
        served: ServedTree(Mutex::new(TreeOrDigest::Tree(served))),
    })
}

/// Create the directories, and the files that the first phase requires.
pub(crate) fn prepare(
    job: &Job,
    namespace: &Namespace,
    tick: &mut dyn FnMut() -> bool,
) -> Result<FileState, Error> {
    make_directories(job, namespace, tick)?;
    let files = job.files_before();
    if files == FileState::Created {
        run_phase(
            job,
            namespace,
            (Operation::Create, FileState::None),
            &mut |_| tick(),
        )?;
    }
    Ok(files)
}

/// Create the directories durably, outside all phases.
fn make_directories(
    job: &Job,
    namespace: &Namespace,
    tick: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let (mut paths, mut wait_times) = (PathBuilder::default(), WaitTimes::default());
    let mut last = 0;
    for number in 0..=job.directory_index(job.files - 1) {
        let path = paths.directory(number);
        last = namespace.change(&Mutation::Mkdir { path, at_ms: 0 }, &mut wait_times)?;
    }
    while namespace.wait_for(last, MAX_WAIT, &mut wait_times)? < last {
        if !tick() {
            return Err(Error::Stopped);
        }
    }
    Ok(())
}

fn run_phase(
    job: &Job,
    namespace: &Namespace,
    (operation, files): (Operation, FileState),
    tick: &mut dyn FnMut(u64) -> bool,
) -> Result<Phase, Error> {
    let work = |worker: &Worker| -> Result<WorkerResult, Halt> {
        worker.wait_for_start();
        HandlerGroup::start(job, namespace, worker, WindowCursor::without_log())
            .run(operation, files)
    };
    let before = namespace.statistics();
    let times = iostudy_worker_pool::run(job.workers, work, tick)?;
    let log = namespace.statistics().since(&before);
    Ok(summarize(operation, log, &times))
}

fn summarize(operation: Operation, log: LogStatistics, times: &[WorkerResult]) -> Phase {
    let started = times.iter().map(|result| result.started).min();
    let ended = times.iter().map(|result| result.ended).max();
    let mut phase = Phase {
        operation,
        wall: ended
            .zip(started)
            .map_or(Duration::ZERO, |(ended, started)| ended - started),
        latencies: empty_latencies(),
        log,
        wait_times: WaitTimes::default(),
        checkpoints: Duration::ZERO,
    };
    for result in times {
        merge(&mut phase.latencies, &result.latencies);
        phase.wait_times.lock += result.wait_times.lock;
        phase.wait_times.buffer += result.wait_times.buffer;
        phase.wait_times.sync += result.wait_times.sync;
        phase.checkpoints += result.checkpoints;
    }
    phase
}

impl Outcome {
    /// Check that every remaining log of the job recovers to the served tree.
    ///
    /// # Errors
    ///
    /// The errors of [`recover`]; [`Error::TreeMismatch`] if a log recovers to another tree;
    /// [`Error::IncompleteLog`] if a log is damaged but recoverable.
    pub fn verify(&self, job: &Job) -> Result<(), Error> {
        let served = self.served.digest();
        for directory in &job.log.directories {
            if self
                .failed_logs
                .iter()
                .any(|one| one.directory == *directory)
            {
                continue;
            }
            let summarize = recover(std::slice::from_ref(directory))?;
            if !summarize.findings.is_empty() {
                return Err(Error::IncompleteLog(summarize.findings));
            }
            if summarize.tree.digest() != served {
                return Err(Error::TreeMismatch {
                    transactions: summarize.last,
                });
            }
        }
        Ok(())
    }
}

/// Served tree, replaced by its digest on first use to limit memory to one tree.
#[derive(Debug)]
struct ServedTree(Mutex<TreeOrDigest>);

#[derive(Debug)]
enum TreeOrDigest {
    Tree(Tree),
    Digest(u64),
}

impl ServedTree {
    fn digest(&self) -> u64 {
        let mut served = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = match &*served {
            TreeOrDigest::Tree(tree) => tree.digest(),
            TreeOrDigest::Digest(digest) => *digest,
        };
        *served = TreeOrDigest::Digest(digest);
        digest
    }
}
