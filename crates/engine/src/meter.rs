//! Measurement of a thread: I/O statistics, and the interface of the backends that are measured.

use std::time::Instant;

use iostudy_latency::{IoStats, Latencies, empty_latencies, record};
use iostudy_windows::{Counts, WindowCursor};

use crate::error::{FileFault, Halt};
use crate::files::Files;
use crate::request_source::RequestSource;

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

/// Backend that transfers all records of a thread. It owns its buffers and may keep several records
/// in flight.
pub(crate) trait Backend {
    /// Transfer every record that `requests` yields, and verify reads.
    fn run(
        &mut self,
        files: &Files,
        requests: &mut RequestSource,
        meter: &mut Meter,
    ) -> Result<(), Halt>;
}

/// Worker thread of a job.
pub(crate) type Worker<'a> = iostudy_worker_pool::Worker<'a, FileFault>;

/// I/O statistics of one thread.
pub(crate) struct ThreadStats {
    pub(crate) read: IoStats,
    pub(crate) write: IoStats,
    pub(crate) sync: Latencies,
    /// Bytes transferred, including the ramp time.
    pub(crate) moved_bytes: u64,
}

impl ThreadStats {
    pub(crate) fn new() -> Self {
        Self {
            read: IoStats::new(),
            write: IoStats::new(),
            sync: empty_latencies(),
            moved_bytes: 0,
        }
    }

    /// Counts of a window: reads, writes and sync calls.
    pub(crate) fn counts(&self) -> Counts {
        let sync = IoStats {
            bytes: 0,
            latencies: self.sync.clone(),
        };
        vec![self.read.clone(), self.write.clone(), sync]
    }
}

/// Direction of a record transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}
