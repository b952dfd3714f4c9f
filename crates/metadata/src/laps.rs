//! What a thread notes of its operations.

use std::time::Instant;

use iostudy_latency::{Latencies, empty_latencies, record};

use crate::error::{Halt, Met};

/// A thread of a phase.
pub(crate) type Worker<'a> = iostudy_worker_pool::Worker<'a, Timed, Met>;

/// What one thread measured.
pub(crate) struct Timed {
    pub(crate) started: Instant,
    pub(crate) ended: Instant,
    pub(crate) latencies: Latencies,
}

/// Operations follow each other without a pause, so that the end of one is the start of the next
/// and the clock is read once for each.
pub(crate) struct Laps<'a> {
    worker: &'a Worker<'a>,
    done: u64,
    timed: Timed,
}

impl<'a> Laps<'a> {
    /// The first operation starts now.
    pub(crate) fn start(worker: &'a Worker<'a>) -> Self {
        let now = Instant::now();
        Self {
            worker,
            done: 0,
            timed: Timed {
                started: now,
                ended: now,
                latencies: empty_latencies(),
            },
        }
    }

    /// To be asked before every operation.
    #[inline]
    pub(crate) fn check_stop(&self) -> Result<(), Halt> {
        self.worker.check_stop()
    }

    /// An operation has ended, and the next one starts now.
    #[inline]
    pub(crate) fn lap(&mut self) {
        let now = Instant::now();
        record(&mut self.timed.latencies, now - self.timed.ended);
        self.timed.ended = now;
        self.done += 1;
        self.worker.report_progress(self.done);
    }

    pub(crate) fn into_timed(self) -> Timed {
        self.timed
    }
}
