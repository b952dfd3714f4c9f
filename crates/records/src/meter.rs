//! Measurement of I/O calls.

use std::time::Instant;

use iostudy_latency::{Latencies, empty_latencies, merge, record};
use iostudy_worker_pool::Worker;

use crate::error::{Fault, Halt};

/// Latencies and bytes of read and write calls.
#[derive(Debug, Clone)]
pub struct CallStats {
    /// Latencies of read calls.
    pub reads: Latencies,
    /// Latencies of write calls.
    pub writes: Latencies,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl Default for CallStats {
    fn default() -> Self {
        Self {
            reads: empty_latencies(),
            writes: empty_latencies(),
            read_bytes: 0,
            written_bytes: 0,
        }
    }
}

impl CallStats {
    pub(crate) fn merge(&mut self, others: &Self) {
        merge(&mut self.reads, &others.reads);
        merge(&mut self.writes, &others.writes);
        self.read_bytes += others.read_bytes;
        self.written_bytes += others.written_bytes;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.read_bytes + self.written_bytes
    }
}

/// Progress reports and stop checks of a thread.
pub(crate) trait Progress {
    fn check_stop(&self) -> Result<(), Halt>;
    fn report_progress(&self, total: u64);
}

impl Progress for Worker<'_, Fault> {
    fn check_stop(&self) -> Result<(), Halt> {
        Worker::check_stop(self)
    }

    fn report_progress(&self, total: u64) {
        Worker::report_progress(self, total);
    }
}

/// Meter of one thread's I/O calls.
pub(crate) struct Meter<'a> {
    progress: &'a dyn Progress,
    call_stats: CallStats,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(progress: &'a dyn Progress) -> Self {
        Self {
            progress,
            call_stats: CallStats::default(),
        }
    }

    /// Return an error if the job is stopping. Call it before computations.
    pub(crate) fn check_stop(&self) -> Result<(), Halt> {
        self.progress.check_stop()
    }

    /// Run and time a read call, which returns the number of bytes.
    pub(crate) fn read(
        &mut self,
        call: impl FnOnce() -> Result<usize, Fault>,
    ) -> Result<usize, Halt> {
        self.progress.check_stop()?;
        let started = Instant::now();
        let bytes = call()?;
        record(&mut self.call_stats.reads, started.elapsed());
        self.call_stats.read_bytes += bytes as u64;
        self.progress.report_progress(self.call_stats.bytes());
        Ok(bytes)
    }

    /// Run and time a write call of `bytes` bytes.
    pub(crate) fn write(
        &mut self,
        bytes: usize,
        call: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<(), Halt> {
        self.progress.check_stop()?;
        let started = Instant::now();
        call()?;
        record(&mut self.call_stats.writes, started.elapsed());
        self.call_stats.written_bytes += bytes as u64;
        self.progress.report_progress(self.call_stats.bytes());
        Ok(())
    }

    pub(crate) fn into_call_stats(self) -> CallStats {
        self.call_stats
    }
}
