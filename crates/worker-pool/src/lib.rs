//! Pool of threads with a start barrier, progress counters and cancellation.
//!
//! [`run`] starts the workers. Each worker prepares its resources, calls
//! [`Worker::wait_for_start`], and begins when all workers are ready, so that setup is not timed.
//! The calling thread reports progress to its caller at fixed intervals, and the caller may stop
//! the pool. The first fault stops every worker. [`run`] returns only after every thread has ended.

mod coordinator;
mod worker;

use std::io;
use std::sync::PoisonError;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, Scope, sleep};
use std::time::Duration;

use thiserror::Error;

use crate::coordinator::Coordinator;
use crate::worker::{Event, Shared};
pub use crate::worker::{Halt, Worker};

/// Interval between two calls of `tick`.
const TICK_INTERVAL: Duration = Duration::from_millis(50);

/// Reason why a pool produced no result.
#[derive(Debug, Error)]
pub enum Error<E> {
    /// A worker failed. With several failures this is the first one.
    #[error("{fault}")]
    Fault {
        /// Index of the worker, from 0.
        worker: usize,
        /// Fault of the worker.
        fault: E,
    },
    /// The system refused to start a thread.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
    /// The caller stopped the pool.
    #[error("stopped before its end")]
    Stopped,
}

/// Run `work` on `workers` threads and return their outputs in worker order.
///
/// Call `tick` about every 50 ms on the calling thread with the summed progress of all workers.
/// When `tick` returns false, every worker is cancelled at its next [`Worker::check_stop`].
///
/// # Errors
///
/// The first fault of any worker; [`Error::Stopped`] if `tick` returned false; [`Error::Thread`] if
/// the system refuses a thread.
pub fn run<T: Send, E: Send>(
    workers: usize,
    work: impl Fn(&Worker<T, E>) -> Result<T, Halt<E>> + Sync,
    tick: impl FnMut(u64) -> bool,
) -> Result<Vec<T>, Error<E>> {
    let shared = Shared::new(workers);
    let (sender, events) = channel();
    std::thread::scope(|scope| {
        let closed_gate = shared.gate.write().unwrap_or_else(PoisonError::into_inner);
        // Allocated before the threads start: they may use up the memory.
        let coordinator = Coordinator::new(&shared, closed_gate);
        let started = spawn_workers(scope, &shared, &work, sender);
        if started.is_err() {
            shared.stop();
        }
        let outcome = coordinator.wait_for_workers(&events, tick);
        started.map_err(Error::Thread)?;
        outcome
    })
}

/// Sleep for `time`, but at most for one tick interval, so that the worker calls
/// [`Worker::check_stop`] soon after a stop.
pub fn bounded_sleep(time: Duration) {
    sleep(time.min(TICK_INTERVAL));
}

fn spawn_workers<'scope, 'env, T, E>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env Shared,
    work: &'env (impl Fn(&Worker<T, E>) -> Result<T, Halt<E>> + Sync),
    sender: Sender<Event<T, E>>,
) -> io::Result<()>
where
    T: Send + 'scope,
    E: Send + 'scope,
{
    for index in 0..shared.workers() {
        let worker = Worker::new(shared, index, sender.clone());
        Builder::new()
            .name(format!("io-{index}"))
            .spawn_scoped(scope, move || {
                let outcome = work(&worker);
                if outcome.is_err() {
                    shared.stop();
                }
                worker.finish(outcome);
            })?;
    }
    drop(sender); // the channel closes when the last worker drops its sender
    Ok(())
}
