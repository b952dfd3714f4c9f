//! What is noted while a file is moved, and whether to go on.

use std::time::Instant;

use hdrhistogram::Histogram;

use crate::error::Halt;
use crate::run::Member;

/// Latencies in nanoseconds to three significant digits.
pub(crate) type Latencies = Histogram<u64>;

pub(crate) fn no_latencies() -> Latencies {
    Histogram::new(3).expect("three significant digits are allowed")
}

/// One file's record times. Records follow each other without a pause, so that the end of one is
/// the start of the next and the clock is read once per record.
pub(crate) struct Meter<'a> {
    member: &'a Member<'a>,
    bytes: u64,
    last: Instant,
    latencies: Latencies,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(member: &'a Member<'a>) -> Self {
        Self {
            member,
            bytes: 0,
            last: Instant::now(),
            latencies: no_latencies(),
        }
    }

    /// The first record starts now.
    pub(crate) fn start(&mut self) {
        self.last = Instant::now();
    }

    /// To be asked before every record.
    pub(crate) fn go_on(&self) -> Result<(), Halt> {
        self.member.go_on()
    }

    /// A record of so many bytes has been moved, and the next one starts now.
    pub(crate) fn record_ends(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        self.member.has_done(self.bytes);
        let now = Instant::now();
        let elapsed = u64::try_from((now - self.last).as_nanos()).unwrap_or(u64::MAX);
        let recorded = self.latencies.record(elapsed);
        recorded.expect("a histogram that grows takes every value");
        self.last = now;
    }

    pub(crate) fn into_latencies(self) -> Latencies {
        self.latencies
    }
}
