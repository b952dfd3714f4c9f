//! What is noted while a thread moves data, and whether to go on.

use std::time::Instant;

use iostudy_latency::{Latencies, empty_latencies, merge, record};
use iostudy_worker_pool::Worker;

use crate::error::{Fault, Halt};

/// How long the calls that read and those that wrote took, and how much they moved.
#[derive(Debug, Clone)]
pub struct Calls {
    /// Of the calls that read.
    pub reads: Latencies,
    /// Of the calls that wrote.
    pub writes: Latencies,
    /// Bytes read by them.
    pub read_bytes: u64,
    /// Bytes written by them.
    pub written_bytes: u64,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            reads: empty_latencies(),
            writes: empty_latencies(),
            read_bytes: 0,
            written_bytes: 0,
        }
    }
}

impl Calls {
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

/// What a thread asks before it goes on, and tells when it has.
pub(crate) trait Progress {
    fn check_stop(&self) -> Result<(), Halt>;
    fn report_progress(&self, total: u64);
}

impl<T> Progress for Worker<'_, T, Fault> {
    fn check_stop(&self) -> Result<(), Halt> {
        Worker::check_stop(self)
    }

    fn report_progress(&self, total: u64) {
        Worker::report_progress(self, total);
    }
}

/// The calls of one thread: each is asked for, timed and counted.
pub(crate) struct Meter<'a> {
    progress: &'a dyn Progress,
    calls: Calls,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(progress: &'a dyn Progress) -> Self {
        Self {
            progress,
            calls: Calls::default(),
        }
    }

    /// To be asked before every piece of work that is no call.
    pub(crate) fn check_stop(&self) -> Result<(), Halt> {
        self.progress.check_stop()
    }

    /// Carry out a call that gives the number of bytes read.
    pub(crate) fn read(
        &mut self,
        call: impl FnOnce() -> Result<usize, Fault>,
    ) -> Result<usize, Halt> {
        self.progress.check_stop()?;
        let started = Instant::now();
        let bytes = call()?;
        record(&mut self.calls.reads, started.elapsed());
        self.calls.read_bytes += bytes as u64;
        self.progress.report_progress(self.calls.bytes());
        Ok(bytes)
    }

    /// Carry out a call that writes so many bytes.
    pub(crate) fn write(
        &mut self,
        bytes: usize,
        call: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<(), Halt> {
        self.progress.check_stop()?;
        let started = Instant::now();
        call()?;
        record(&mut self.calls.writes, started.elapsed());
        self.calls.written_bytes += bytes as u64;
        self.progress.report_progress(self.calls.bytes());
        Ok(())
    }

    pub(crate) fn into_calls(self) -> Calls {
        self.calls
    }
}
