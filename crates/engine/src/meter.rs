//! What is noted while records are moved, and whether to go on.

use std::time::Instant;

use iostudy_latency::{Latencies, add, no_latencies, note};

use crate::error::Halt;
use crate::run::Member;

/// What was done with records in one direction.
#[derive(Debug, Clone)]
pub struct Tally {
    /// All bytes moved.
    pub bytes: u64,
    /// How long single records took, in nanoseconds.
    pub latencies: Latencies,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            bytes: 0,
            latencies: no_latencies(),
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        add(&mut self.latencies, &other.latencies);
    }
}

/// What a thread did.
pub(crate) struct Tallies {
    pub(crate) read: Tally,
    pub(crate) write: Tally,
    pub(crate) sync: Latencies,
    /// All that was moved, also what does not count.
    pub(crate) moved_bytes: u64,
}

/// What is done with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// The notes of one thread. What ends before `counts_from` is not counted.
pub(crate) struct Meter<'a> {
    member: &'a Member<'a>,
    counts_from: Instant,
    tallies: Tallies,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(member: &'a Member<'a>, counts_from: Instant) -> Self {
        Self {
            member,
            counts_from,
            tallies: Tallies {
                read: Tally::new(),
                write: Tally::new(),
                sync: no_latencies(),
                moved_bytes: 0,
            },
        }
    }

    /// To be asked before every record.
    #[inline]
    pub(crate) fn go_on(&self) -> Result<(), Halt> {
        self.member.go_on()
    }

    /// A record of so many bytes that was due then has been moved now.
    #[inline]
    pub(crate) fn moved(&mut self, direction: Direction, due: Instant, bytes: usize, now: Instant) {
        self.tallies.moved_bytes += bytes as u64;
        self.member.has_done(self.tallies.moved_bytes);
        if now >= self.counts_from {
            let tally = match direction {
                Direction::Read => &mut self.tallies.read,
                Direction::Write => &mut self.tallies.write,
            };
            tally.bytes += bytes as u64;
            note(&mut tally.latencies, now.saturating_duration_since(due));
        }
    }

    /// A sync that began then has come back; gives the time.
    pub(crate) fn synced(&mut self, began: Instant) -> Instant {
        let now = Instant::now();
        if now >= self.counts_from {
            note(&mut self.tallies.sync, now.saturating_duration_since(began));
        }
        now
    }

    pub(crate) fn into_tallies(self) -> Tallies {
        self.tallies
    }
}
