//! Execution of a job's phases by threads with a shared work queue.

use std::sync::atomic::{AtomicUsize, Ordering};

use iostudy_worker_pool as worker_pool;

use crate::error::{Error, Fault, Halt};
use crate::meter::{CallStats, Meter};

/// Queue of work items by index.
pub(crate) struct WorkQueue {
    next: AtomicUsize,
    end: usize,
}

impl WorkQueue {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            next: AtomicUsize::new(0),
            end: number,
        }
    }

    /// Next item that no thread has taken.
    pub(crate) fn next(&self) -> Option<usize> {
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|piece| *piece < self.end)
    }
}

/// Runner of phases that merges their call statistics.
pub(crate) struct PhaseRunner<'a> {
    tick: &'a mut dyn FnMut(u64) -> bool,
    call_stats: CallStats,
}

impl<'a> PhaseRunner<'a> {
    /// Create a runner; `tick` gets the bytes transferred since the first phase.
    pub(crate) fn new(tick: &'a mut dyn FnMut(u64) -> bool) -> Self {
        Self {
            tick,
            call_stats: CallStats::default(),
        }
    }

    /// Run `work` on `threads` threads and return their outputs.
    pub(crate) fn run<T: Send>(
        &mut self,
        threads: usize,
        work: impl Fn(&mut Meter) -> Result<T, Halt> + Sync,
    ) -> Result<Vec<T>, Error> {
        let before = self.call_stats.bytes();
        let tick = &mut |done| (self.tick)(before + done);
        let output = worker_pool::run(threads, |worker| metered(worker, &work), tick)?;
        let (output, call_stats): (Vec<T>, Vec<CallStats>) = output.into_iter().unzip();
        for stats in &call_stats {
            self.call_stats.merge(stats);
        }
        Ok(output)
    }

    pub(crate) fn into_call_stats(self) -> CallStats {
        self.call_stats
    }
}

fn metered<T>(
    worker: &worker_pool::Worker<Fault>,
    work: impl Fn(&mut Meter) -> Result<T, Halt>,
) -> Result<(T, CallStats), Halt> {
    let mut meter = Meter::new(worker);
    worker.wait_for_start();
    let output = work(&mut meter)?;
    Ok((output, meter.into_call_stats()))
}
