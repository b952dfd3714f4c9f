//! What a thread notes of its operations.

use std::time::Instant;

use iostudy_latency::{Latencies, no_latencies, note};

use crate::error::{Halt, Met};

/// A thread of a phase.
pub(crate) type Member<'a> = iostudy_crew::Member<'a, Timed, Met>;

/// What one thread measured.
pub(crate) struct Timed {
    pub(crate) started: Instant,
    pub(crate) ended: Instant,
    pub(crate) latencies: Latencies,
}

/// Operations follow each other without a pause, so that the end of one is the start of the next
/// and the clock is read once for each.
pub(crate) struct Laps<'a> {
    member: &'a Member<'a>,
    done: u64,
    timed: Timed,
}

impl<'a> Laps<'a> {
    /// The first operation starts now.
    pub(crate) fn start(member: &'a Member<'a>) -> Self {
        let now = Instant::now();
        Self {
            member,
            done: 0,
            timed: Timed {
                started: now,
                ended: now,
                latencies: no_latencies(),
            },
        }
    }

    /// To be asked before every operation.
    #[inline]
    pub(crate) fn go_on(&self) -> Result<(), Halt> {
        self.member.go_on()
    }

    /// An operation has ended, and the next one starts now.
    #[inline]
    pub(crate) fn lap(&mut self) {
        let now = Instant::now();
        note(&mut self.timed.latencies, now - self.timed.ended);
        self.timed.ended = now;
        self.done += 1;
        self.member.has_done(self.done);
    }

    pub(crate) fn into_timed(self) -> Timed {
        self.timed
    }
}
