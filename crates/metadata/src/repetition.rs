//! Repetition of a job's operations, for windows of a steady state.

use iostudy_windows::WindowLog;

use crate::error::{Error, Halt};
use crate::executor::Executor;
use crate::job::Job;
use crate::job::Operation;
use crate::layout::Layout;
use crate::operation_timer::{OperationTimer, Worker, WorkerResult};
use crate::tree_setup::create_trees;
use crate::tree_state::TreeState;

/// Files that a thread takes through all operations before it takes the next ones. So every window
/// has all operations in equal numbers.
const GROUP_FILES: usize = 32;

impl Job {
    /// Whether the operations leave the tree as they find it, empty, for any group of files.
    pub fn is_cycle(&self) -> bool {
        let start = TreeState::required_before(&self.operations);
        let end = self
            .operations
            .iter()
            .try_fold(start, |state, operation| state.after(*operation));
        start.is_empty() && end == Ok(start) && !self.operations.contains(&Operation::List)
    }
}

/// Repeat all operations on one group of files after another until `tick` returns false. A window
/// of `windows` counts each operation of the job.
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
) -> Result<(), Error> {
    job.validate().expect("the job must be valid");
    assert!(job.is_cycle(), "the job must be a cycle");
    let layout = Layout::of(job);
    let work = |worker: &Worker| run_worker(job, &layout, windows, worker);
    let outcome = create_trees(job, &layout, tick)
        .and_then(|()| Ok(iostudy_worker_pool::run(job.threads, work, tick)?));
    match outcome {
        Ok(_) | Err(Error::Stopped) => Ok(()),
        Err(error) => Err(error),
    }
}

fn run_worker(
    job: &Job,
    layout: &Layout,
    windows: &WindowLog,
    worker: &Worker,
) -> Result<WorkerResult, Halt> {
    let first = (job.operations[0], TreeState::default());
    let mut executor = Executor::new(job, layout, first, worker.index())?;
    worker.wait_for_start();
    let mut timer = OperationTimer::start(worker, windows.cursor(), job.operations.len());
    loop {
        for leaf in 0..layout.leaves() {
            timer.check_stop()?;
            let mut items = layout.thread_items(worker.index(), leaf).peekable();
            while items.peek().is_some() {
                let group: Vec<u64> = items.by_ref().take(GROUP_FILES).collect();
                run_cycle(job, &mut executor, &mut timer, (leaf, &group))?;
            }
        }
    }
}

fn run_cycle(
    job: &Job,
    executor: &mut Executor,
    timer: &mut OperationTimer,
    (leaf, group): (u64, &[u64]),
) -> Result<(), Halt> {
    let mut tree_state = TreeState::default();
    for (index, operation) in job.operations.iter().enumerate() {
        executor.switch_to(*operation, tree_state);
        executor.enter(leaf)?;
        timer.switch_to(index);
        for item in group {
            timer.check_stop()?;
            executor.perform(*item)?;
            timer.lap();
        }
        tree_state = tree_state
            .after(*operation)
            .expect("the order was validated");
    }
    Ok(())
}
