//! The phases of a job: in each, some threads work off pieces of work in turn.

use std::sync::atomic::{AtomicUsize, Ordering};

use iostudy_worker_pool as worker_pool;

use crate::error::{Error, Fault, Halt};
use crate::meter::{Calls, Meter};

/// Pieces of work that each thread takes the next of.
pub(crate) struct Pieces {
    next: AtomicUsize,
    end: usize,
}

impl Pieces {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            next: AtomicUsize::new(0),
            end: number,
        }
    }

    /// The next one that nobody has taken.
    pub(crate) fn take(&self) -> Option<usize> {
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|piece| *piece < self.end)
    }
}

/// Runs phase after phase, and adds up what their calls were.
pub(crate) struct Phases<F> {
    tick: F,
    calls: Calls,
}

impl<F: FnMut(u64) -> bool> Phases<F> {
    /// `tick` is told the bytes moved since the first phase began.
    pub(crate) fn new(tick: F) -> Self {
        Self {
            tick,
            calls: Calls::default(),
        }
    }

    /// Let so many threads work; what each of them made.
    pub(crate) fn run<T: Send>(
        &mut self,
        threads: usize,
        work: impl Fn(&mut Meter) -> Result<T, Halt> + Sync,
    ) -> Result<Vec<T>, Error> {
        let before = self.calls.bytes();
        let tick = |done| (self.tick)(before + done);
        let made = worker_pool::run(threads, |worker| metered(worker, &work), tick)?;
        let (made, calls): (Vec<T>, Vec<Calls>) = made.into_iter().unzip();
        for calls in calls {
            self.calls.merge(&calls);
        }
        Ok(made)
    }

    pub(crate) fn into_calls(self) -> Calls {
        self.calls
    }
}

fn metered<T>(
    worker: &worker_pool::Worker<(T, Calls), Fault>,
    work: impl Fn(&mut Meter) -> Result<T, Halt>,
) -> Result<(T, Calls), Halt> {
    let mut meter = Meter::new(worker);
    worker.wait_for_start();
    let made = work(&mut meter)?;
    Ok((made, meter.into_calls()))
}
