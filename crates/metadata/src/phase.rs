//! Phases, one after the other.

use std::time::{Duration, Instant};

use iostudy_files::open;
use iostudy_latency::{Latencies, empty_latencies, merge};
use rustix::fs::syncfs;
use rustix::io::retry_on_intr;

use crate::error::{Error, Fault, Halt, Met};
use crate::hands::{DIRECTORY, Hands};
use crate::job::{Job, Sync};
use crate::laps::{Laps, Timed, Worker};
use crate::layout::Layout;
use crate::operation::Operation;
use crate::stock::Stock;
use crate::tree::make_trees;

/// What was measured in one phase.
#[derive(Debug, Clone)]
pub struct Phase {
    /// What was done.
    pub operation: Operation,
    /// From the first start to the last end, and to the end of the syncfs where there is one.
    pub wall: Duration,
    /// How long single operations took, in nanoseconds; as many as there were.
    pub latencies: Latencies,
}

/// Carry out a job: make its trees, unmeasured, unless it needs what an earlier job made in them,
/// then every phase.
///
/// `tick` is called about every 50 ms on the calling thread with the operations done so far; once
/// it says no, every thread stops at the end of its operation. What was made stays, also after an
/// error; see [`crate::remove_tree`].
///
/// # Errors
///
/// The first error of any thread, which stops the others; [`Error::Stopped`] if the caller stopped
/// it; [`Error::Thread`] if the system does not allow as many threads.
///
/// # Panics
///
/// If the job is not valid; see [`Job::validate`].
pub fn run(job: &Job, mut tick: impl FnMut(u64) -> bool) -> Result<Vec<Phase>, Error> {
    job.validate().expect("a job is validated before it is run");
    let layout = Layout::of(job);
    let mut stock = Stock::before(&job.operations);
    if stock.is_empty() {
        make_trees(job, &layout, || tick(0))?;
    }
    let mut phases = Vec::with_capacity(job.operations.len());
    let mut done_before = 0;
    for operation in job.operations.iter().copied() {
        let phase = carry_out(job, &layout, (operation, stock), |done| {
            tick(done_before + done)
        })?;
        done_before += phase.latencies.len();
        phases.push(phase);
        stock = stock.after(operation).expect("the order was validated");
    }
    Ok(phases)
}

fn carry_out(
    job: &Job,
    layout: &Layout,
    doing: (Operation, Stock),
    tick: impl FnMut(u64) -> bool,
) -> Result<Phase, Error> {
    let work = |worker: &Worker| take_part(job, layout, doing, worker);
    let times = iostudy_worker_pool::run(job.threads, work, tick)?;
    let (operation, _) = doing;
    let synced = if operation.changes() && job.sync == Sync::Phase {
        sync_all(job)?
    } else {
        Duration::ZERO
    };
    Ok(Phase {
        operation,
        wall: wall(&times) + synced,
        latencies: all_latencies(&times),
    })
}

fn take_part(
    job: &Job,
    layout: &Layout,
    doing: (Operation, Stock),
    worker: &Worker,
) -> Result<Timed, Halt> {
    let mut hands = Hands::new(job, layout, doing, worker.index())?;
    worker.wait_for_start();
    let mut laps = Laps::start(worker);
    for leaf in 0..layout.leaves() {
        laps.check_stop()?; // in a shared tree there may be many without an item of this thread
        hands.enter(leaf)?;
        if doing.0 == Operation::List {
            hands.list(leaf)?;
            laps.lap();
            continue;
        }
        for item in layout.items_of(worker.index(), leaf) {
            laps.check_stop()?;
            hands.perform(item)?;
            laps.lap();
        }
    }
    Ok(laps.into_timed())
}

/// Make the file system durable as a whole; how long that took.
fn sync_all(job: &Job) -> Result<Duration, Met> {
    let met = |fault| Met {
        path: job.directory.clone(),
        fault,
    };
    let directory =
        open(&job.directory, DIRECTORY).map_err(|errno| met(Fault::of("open")(errno)))?;
    let began = Instant::now();
    retry_on_intr(|| syncfs(&directory)).map_err(|errno| met(Fault::of("syncfs")(errno)))?;
    Ok(began.elapsed())
}

fn wall(times: &[Timed]) -> Duration {
    let started = times.iter().map(|timed| timed.started).min();
    let ended = times.iter().map(|timed| timed.ended).max();
    let (Some(started), Some(ended)) = (started, ended) else {
        unreachable!("a valid job has a thread")
    };
    ended - started
}

fn all_latencies(times: &[Timed]) -> Latencies {
    let mut all = empty_latencies();
    for timed in times {
        merge(&mut all, &timed.latencies);
    }
    all
}
