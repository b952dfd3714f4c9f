//! Pool of threads with a start barrier, progress counters and cancellation.
//!
//! [`run`] starts the workers. Each worker prepares its resources, calls
//! [`Worker::wait_for_start`], and begins when all workers are ready, so that setup is not timed.
//! The calling thread reports progress to its caller at fixed intervals, and the caller may stop
//! the pool. The first fault stops every worker. [`run`] returns only after every thread has ended.

mod coordinator;
mod worker;

use std::io;
use std::panic::resume_unwind;
use std::sync::PoisonError;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle, sleep};
use std::time::Duration;

use thiserror::Error;

use crate::coordinator::wait_for_workers;
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

type Thread<'scope, T, E> = ScopedJoinHandle<'scope, Result<T, Halt<E>>>;

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
    work: impl Fn(&Worker<E>) -> Result<T, Halt<E>> + Sync,
    tick: &mut dyn FnMut(u64) -> bool,
) -> Result<Vec<T>, Error<E>> {
    let shared = Shared::new(workers);
    let (sender, events) = channel();
    std::thread::scope(|scope| {
        let closed_gate = shared.gate.write().unwrap_or_else(PoisonError::into_inner);
        let started = spawn_workers(scope, &shared, &work, sender);
        if started.is_err() {
            shared.stop();
        }
        let first_failed = wait_for_workers(&shared, closed_gate, &events, tick);
        into_result(started.map_err(Error::Thread)?, first_failed)
    })
}

/// Sleep for `time`, but at most for one tick interval, so that the worker calls
/// [`Worker::check_stop`] soon after a stop.
pub fn bounded_sleep(time: Duration) {
    sleep(time.min(TICK_INTERVAL));
}

fn spawn_workers<'scope, 'env, T: Send + 'scope, E: Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env Shared,
    work: &'env (impl Fn(&Worker<E>) -> Result<T, Halt<E>> + Sync),
    sender: Sender<Event>,
) -> io::Result<Vec<Thread<'scope, T, E>>> {
    let spawn = |index| {
        let worker = Worker::new(shared, index, sender.clone());
        Builder::new()
            .name(format!("io-{index}"))
            .spawn_scoped(scope, move || {
                let outcome = work(&worker);
                worker.finish(&outcome);
                outcome
            })
    };
    let threads = (0..shared.workers()).map(spawn).collect();
    drop(sender); // the channel closes when the last worker drops its sender
    threads
}

/// Collect the outputs of workers that have ended.
fn into_result<T, E>(
    threads: Vec<Thread<'_, T, E>>,
    first_failed: Option<usize>,
) -> Result<Vec<T>, Error<E>> {
    let join =
        |thread: Thread<'_, T, E>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
    let mut outputs = Vec::with_capacity(threads.len());
    let mut is_stopped = false;
    for (worker, thread) in threads.into_iter().enumerate() {
        match join(thread) {
            Ok(output) => outputs.push(output),
            Err(Halt::Fault(fault)) if first_failed == Some(worker) => {
                return Err(Error::Fault { worker, fault });
            }
            Err(_) => is_stopped = true,
        }
    }
    if is_stopped {
        return Err(Error::Stopped);
    }
    Ok(outputs)
}
