//! Timing of a thread's operations.

use std::time::Instant;

use iostudy_latency::{IoStats, Latencies, record};
use iostudy_windows::WindowCursor;

use crate::error::{Halt, OperationError};

/// Worker thread of a phase.
pub(crate) type Worker<'a> = iostudy_worker_pool::Worker<'a, OperationError>;

/// Measurements of one thread.
pub(crate) struct WorkerResult {
    pub(crate) started: Instant,
    pub(crate) ended: Instant,
    pub(crate) latencies: Latencies,
}

/// Timer of consecutive operations. The end of one is the start of the next, so each needs one
/// clock read.
pub(crate) struct OperationTimer<'a> {
    worker: &'a Worker<'a>,
    done: u64,
    started: Instant,
    ended: Instant,
    windows: WindowCursor<'a>,
    /// Counters by operation.
    counts: Vec<IoStats>,
    /// Index of the current operation.
    operation: usize,
}

impl<'a> OperationTimer<'a> {
    /// Start the timer of so many operations with the first one.
    pub(crate) fn start(
        worker: &'a Worker<'a>,
        windows: WindowCursor<'a>,
        operations: usize,
    ) -> Self {
        let now = Instant::now();
        Self {
            worker,
            done: 0,
            started: now,
            ended: now,
            windows,
            counts: vec![IoStats::new(); operations],
            operation: 0,
        }
    }

    /// Time the operation with this index from now on.
    pub(crate) fn switch_to(&mut self, operation: usize) {
        self.operation = operation;
    }

    /// Return an error if the job is stopping. Call it before every operation.
    #[inline]
    pub(crate) fn check_stop(&self) -> Result<(), Halt> {
        self.worker.check_stop()
    }

    /// Record the end of an operation and start the next.
    #[inline]
    pub(crate) fn lap(&mut self) {
        let now = Instant::now();
        self.windows.advance(now, || self.counts.clone());
        record(&mut self.counts[self.operation].latencies, now - self.ended);
        self.ended = now;
        self.done += 1;
        self.worker.report_progress(self.done);
    }

    /// Measurements of the current operation.
    pub(crate) fn into_result(mut self) -> WorkerResult {
        WorkerResult {
            started: self.started,
            ended: self.ended,
            latencies: self.counts.swap_remove(self.operation).latencies,
        }
    }
}
