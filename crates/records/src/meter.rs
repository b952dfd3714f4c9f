//! What is noted while a thread moves data, and whether to go on.

use std::time::Instant;

use hdrhistogram::Histogram;
use iostudy_crew::Member;

use crate::error::{Fault, Halt};

/// Latencies in nanoseconds to three significant digits.
pub type Latencies = Histogram<u64>;

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
        let none = || Histogram::new(3).expect("three significant digits are allowed");
        Self {
            reads: none(),
            writes: none(),
            read_bytes: 0,
            written_bytes: 0,
        }
    }
}

impl Calls {
    pub(crate) fn add(&mut self, others: &Self) {
        let grows = "a histogram that grows takes every value";
        self.reads.add(&others.reads).expect(grows);
        self.writes.add(&others.writes).expect(grows);
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

    /// Carry out a call that gives the number of bytes read.
    pub(crate) fn read(
        &mut self,
        call: impl FnOnce() -> Result<usize, Fault>,
    ) -> Result<usize, Halt> {
        self.progress.go_on()?;
        let started = Instant::now();
        let bytes = call()?;
        note(&mut self.calls.reads, started);
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
        note(&mut self.calls.writes, started);
        self.calls.written_bytes += bytes as u64;
        self.progress.has_done(self.calls.bytes());
        Ok(())
    }

    pub(crate) fn into_calls(self) -> Calls {
        self.calls
    }
}

fn note(latencies: &mut Latencies, started: Instant) {
    let elapsed = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let recorded = latencies.record(elapsed);
    recorded.expect("a histogram that grows takes every value");
}
