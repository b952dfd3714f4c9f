//! Timing of a thread's operations.

use std::time::Instant;

use iostudy_latency::{Latencies, empty_latencies, record};

use crate::error::{Halt, OperationError};

/// Worker thread of a phase.
pub(crate) type Worker<'a> = iostudy_worker_pool::Worker<'a, WorkerResult, OperationError>;

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
    result: WorkerResult,
}

impl<'a> OperationTimer<'a> {
    /// Start the timer with the first operation.
    pub(crate) fn start(worker: &'a Worker<'a>) -> Self {
        let now = Instant::now();
        Self {
            worker,
            done: 0,
            result: WorkerResult {
                started: now,
                ended: now,
                latencies: empty_latencies(),
            },
        }
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
        record(&mut self.result.latencies, now - self.result.ended);
        self.result.ended = now;
        self.done += 1;
        self.worker.report_progress(self.done);
    }

    pub(crate) fn into_result(self) -> WorkerResult {
        self.result
    }
}
