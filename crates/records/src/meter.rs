//! What is noted while a thread moves data, and whether to go on.

use std::time::Instant;

use iostudy_crew::Member;
use iostudy_latency::{Latencies, add, no_latencies, note};

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
            reads: no_latencies(),
            writes: no_latencies(),
            read_bytes: 0,
            written_bytes: 0,
        }
    }
}

impl Calls {
    pub(crate) fn add(&mut self, others: &Self) {
        add(&mut self.reads, &others.reads);
        add(&mut self.writes, &others.writes);
        self.read_bytes += others.read_bytes;
        self.written_bytes += others.written_bytes;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.read_bytes + self.written_bytes
    }
}

/// What a thread asks before it goes on, and tells when it has.
pub(crate) trait Progress {
    fn go_on(&self) -> Result<(), Halt>;
    fn has_done(&self, total: u64);
}

impl<T> Progress for Member<'_, T, Fault> {
    fn go_on(&self) -> Result<(), Halt> {
        Member::go_on(self)
    }

    fn has_done(&self, total: u64) {
        Member::has_done(self, total);
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
    pub(crate) fn go_on(&self) -> Result<(), Halt> {
        self.progress.go_on()
    }

    /// Carry out a call that gives the number of bytes read.
    pub(crate) fn read(
        &mut self,
        call: impl FnOnce() -> Result<usize, Fault>,
    ) -> Result<usize, Halt> {
        self.progress.go_on()?;
        let started = Instant::now();
        let bytes = call()?;
        note(&mut self.calls.reads, started.elapsed());
        self.calls.read_bytes += bytes as u64;
        self.progress.has_done(self.calls.bytes());
        Ok(bytes)
    }

    /// Carry out a call that writes so many bytes.
    pub(crate) fn write(
        &mut self,
        bytes: usize,
        call: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<(), Halt> {
        self.progress.go_on()?;
        let started = Instant::now();
        call()?;
        note(&mut self.calls.writes, started.elapsed());
        self.calls.written_bytes += bytes as u64;
        self.progress.has_done(self.calls.bytes());
        Ok(())
    }

    pub(crate) fn into_calls(self) -> Calls {
        self.calls
    }
}
