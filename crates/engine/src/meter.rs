//! Measurement of a thread's I/O.

use std::time::Instant;

use iostudy_latency::record;
use iostudy_windows::WindowCursor;

use crate::error::Halt;
use crate::stats::{Direction, ThreadStats};
use crate::worker::Worker;

/// Meter of one thread. It ignores completions before `measured_from`.
pub(crate) struct Meter<'a> {
    worker: &'a Worker<'a>,
    measured_from: Instant,
    windows: WindowCursor<'a>,
    stats: ThreadStats,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(
        worker: &'a Worker<'a>,
        measured_from: Instant,
        windows: WindowCursor<'a>,
    ) -> Self {
        Self {
            worker,
            measured_from,
            windows,
            stats: ThreadStats::new(),
        }
    }

    /// Return an error if the job is stopping. Call it before every record.
    #[inline]
    pub(crate) fn check_stop(&self) -> Result<(), Halt> {
        self.worker.check_stop()
    }

    /// Note the time `now` for the windows, also of a thread that has nothing to record.
    #[inline]
    pub(crate) fn advance(&mut self, now: Instant) {
        self.windows.advance(now, || self.stats.counts());
    }

    /// Record the transfer of `bytes` that was due at `due` and completed at `now`.
    #[inline]
    pub(crate) fn record_transfer(
        &mut self,
        direction: Direction,
        due: Instant,
        bytes: usize,
        now: Instant,
    ) {
        self.advance(now);
        self.stats.moved_bytes += bytes as u64;
        self.worker.report_progress(self.stats.moved_bytes);
        if now >= self.measured_from {
            let direction_stats = match direction {
                Direction::Read => &mut self.stats.read,
                Direction::Write => &mut self.stats.write,
            };
            direction_stats.bytes += bytes as u64;
            record(
                &mut direction_stats.latencies,
                now.saturating_duration_since(due),
            );
        }
    }

    /// Record a sync call that began at `began`. Return the current time.
    pub(crate) fn record_sync(&mut self, began: Instant) -> Instant {
        let now = Instant::now();
        self.advance(now);
        if now >= self.measured_from {
            record(&mut self.stats.sync, now.saturating_duration_since(began));
        }
        now
    }

    pub(crate) fn into_stats(self) -> ThreadStats {
        self.stats
    }
}
