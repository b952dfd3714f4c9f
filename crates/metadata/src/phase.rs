//! Execution of a job phase by phase.

use std::time::{Duration, Instant};

use iostudy_files::open;
use iostudy_latency::{Latencies, empty_latencies, merge};
use iostudy_windows::WindowCursor;
use rustix::fs::syncfs;
use rustix::io::retry_on_intr;

use crate::error::{Error, Fault, Halt, OperationError};
use crate::executor::{DIRECTORY, Executor};
use crate::job::Operation;
use crate::job::{Job, SyncPolicy};
use crate::layout::Layout;
use crate::operation_timer::{OperationTimer, Worker, WorkerResult};
use crate::tree_setup::create_trees;
use crate::tree_state::TreeState;

/// Measurements of one phase.
#[derive(Debug, Clone)]
pub struct Phase {
    /// Operation of the phase.
    pub operation: Operation,
    /// First start to last end, including a final syncfs.
    pub wall: Duration,
    /// Latencies of single operations, in nanoseconds.
    pub latencies: Latencies,
}

/// Run a job: create its trees, unmeasured, unless it requires an earlier job's files; then run
/// every phase.
///
/// `tick` is called about every 50 ms on the calling thread with the operations completed so far.
/// When it returns false, every thread stops after its current operation. Created files remain,
/// also after an error; see [`crate::remove_tree`].
///
/// # Errors
///
/// The first error of any thread, which stops the other threads; [`Error::Stopped`] if the caller
/// stopped the job; [`Error::Thread`] if the system refuses a thread.
///
/// # Panics
///
/// If the job is not valid; see [`Job::validate`].
pub fn run(job: &Job, tick: &mut dyn FnMut(u64) -> bool) -> Result<Vec<Phase>, Error> {
    job.validate().expect("the job must be valid");
    let layout = Layout::of(job);
    let mut tree_state = TreeState::required_before(&job.operations);
    if tree_state.is_empty() {
        create_trees(job, &layout, tick)?;
    }
    let mut phases = Vec::with_capacity(job.operations.len());
    let mut done_before = 0;
    for operation in job.operations.iter().copied() {
        let phase = run_phase(job, &layout, (operation, tree_state), &mut |done| {
            tick(done_before + done)
        })?;
        done_before += phase.latencies.len();
        phases.push(phase);
        tree_state = tree_state
            .after(operation)
            .expect("the order was validated");
    }
    Ok(phases)
}

fn run_phase(
    job: &Job,
    layout: &Layout,
    step: (Operation, TreeState),
    tick: &mut dyn FnMut(u64) -> bool,
) -> Result<Phase, Error> {
    let work = |worker: &Worker| run_worker(job, layout, step, worker);
    let results = iostudy_worker_pool::run(job.threads, work, tick)?;
    let (operation, _) = step;
    let synced = if operation.changes() && job.sync == SyncPolicy::Phase {
        sync_all(job)?
    } else {
        Duration::ZERO
    };
    Ok(Phase {
        operation,
        wall: wall(&results) + synced,
        latencies: all_latencies(&results),
    })
}

fn run_worker(
    job: &Job,
    layout: &Layout,
    step: (Operation, TreeState),
    worker: &Worker,
) -> Result<WorkerResult, Halt> {
    let mut executor = Executor::new(job, layout, step, worker.index())?;
    worker.wait_for_start();
    let mut timer = OperationTimer::start(worker, WindowCursor::without_log(), 1);
    for leaf in 0..layout.leaves() {
        timer.check_stop()?; // in a shared tree many leaves may have no item of this thread
        executor.enter(leaf)?;
        if step.0 == Operation::List {
            executor.list(leaf)?;
            timer.lap();
            continue;
        }
        for item in layout.thread_items(worker.index(), leaf) {
            timer.check_stop()?;
            executor.perform(item)?;
            timer.lap();
        }
    }
    Ok(timer.into_result())
}

/// Sync the whole file system. Return the duration.
fn sync_all(job: &Job) -> Result<Duration, OperationError> {
    let operation_error = |fault| OperationError {
        path: job.directory.clone(),
        fault,
    };
    let directory = open(&job.directory, DIRECTORY)
        .map_err(|errno| operation_error(Fault::in_call("open")(errno)))?;
    let began = Instant::now();
    retry_on_intr(|| syncfs(&directory))
        .map_err(|errno| operation_error(Fault::in_call("syncfs")(errno)))?;
    Ok(began.elapsed())
}

fn wall(results: &[WorkerResult]) -> Duration {
    let started = results.iter().map(|result| result.started).min();
    let ended = results.iter().map(|result| result.ended).max();
    let (Some(started), Some(ended)) = (started, ended) else {
        unreachable!("a valid job has a thread")
    };
    ended - started
}

fn all_latencies(results: &[WorkerResult]) -> Latencies {
    let mut all = empty_latencies();
    for result in results {
        merge(&mut all, &result.latencies);
    }
    all
}
