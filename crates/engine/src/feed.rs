//! Which record a thread begins next, and when.

use std::time::{Duration, Instant};

use iostudy_pattern::{Record, Stream, Walk, nth};
use rand_distr::{Distribution, Exp1};

use crate::job::{Job, Length, Operation, Pace};
use crate::meter::Direction;
use crate::slowness::Slowness;

/// How much lateness a limited thread makes up for: that of its own sleeps, which end some 50 us
/// late, and not that of a stall, since a limit is no average.
const MADE_UP: Duration = Duration::from_millis(5);

/// Tells streams of one seed apart.
const ORDERS: u64 = 1;
const DIRECTIONS: u64 = 2;
const ARRIVALS: u64 = 3;

/// A record to be moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    /// Which of the thread's files.
    pub(crate) file: usize,
    pub(crate) record: Record,
    pub(crate) direction: Direction,
    /// From when its latency counts.
    pub(crate) due: Instant,
}

pub(crate) enum Next {
    Begin(Task),
    /// Nothing is due before then.
    Wait(Instant),
    End,
}

/// The records of one thread.
pub(crate) struct Feed {
    operation: Operation,
    pace: Pace,
    walk: Walk,
    directions: u64,
    arrivals: Stream,
    index: u64,
    last_index: u64,
    deadline: Option<Instant>,
    /// When the next record is due, unless that is at once.
    due: Option<Instant>,
    slowness: Option<Slowness>,
}

impl Feed {
    /// The records of that thread, from `start` on. It has worked since `began`.
    pub(crate) fn new(job: &Job, thread: usize, began: Instant, start: Instant) -> Self {
        let key = |kind| nth(nth(job.seed, kind), thread as u64);
        let walk = Walk::new(job.layout(thread), job.order, key(ORDERS));
        let (last_index, deadline) = match job.length {
            Length::Pass => (walk.pass(), None),
            Length::Bytes(bytes) => (bytes.div_ceil(job.record_bytes as u64), None),
            Length::Time(run) => (u64::MAX, Some(start + job.ramp + run)),
        };
        let due = match job.pace {
            Pace::Free | Pace::Slowed { .. } => None,
            Pace::Think(_) | Pace::Limited { .. } | Pace::Open { .. } => Some(start),
        };
        let slowness = match job.pace {
            Pace::Slowed { share } => Some(Slowness::new(share, began)),
            Pace::Free | Pace::Think(_) | Pace::Limited { .. } | Pace::Open { .. } => None,
        };
        Self {
            operation: job.operation,
            pace: job.pace,
            walk,
            directions: key(DIRECTIONS),
            arrivals: Stream::new(key(ARRIVALS)),
            index: 0,
            last_index,
            deadline,
            due,
            slowness,
        }
    }

    /// What is to be done at this time. Whoever begins a record must begin it at once.
    #[inline]
    pub(crate) fn next(&mut self, now: Instant) -> Next {
        let is_late = |deadline| now >= deadline;
        if self.index == self.last_index || self.deadline.is_some_and(is_late) {
            self.goes_on(now);
            return Next::End;
        }
        match self.due {
            None => Next::Begin(self.take(now)),
            Some(due) if due > now => Next::Wait(self.deadline.map_or(due, |end| due.min(end))),
            Some(due) => {
                let counts_from = self.pass_due(due, now);
                Next::Begin(self.take(counts_from))
            }
        }
    }

    /// About how many records had arrived by the deadline and were never begun.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count, rounded down
    pub(crate) fn overdue(&self) -> u64 {
        match (self.pace, self.due, self.deadline) {
            (Pace::Open { per_second, .. }, Some(due), Some(end)) if due < end => {
                ((end - due).as_secs_f64() * per_second) as u64 + 1
            }
            _ => 0,
        }
    }

    /// A record has ended at this time: thinking begins, or waiting.
    #[inline]
    pub(crate) fn ended(&mut self, now: Instant) {
        match self.pace {
            Pace::Think(pause) => self.due = Some(now + pause),
            Pace::Slowed { .. } => {
                self.due = self.slowness.as_mut().and_then(|own| own.has_worked(now));
            }
            Pace::Free | Pace::Limited { .. } | Pace::Open { .. } => {}
        }
    }

    /// Until when the thread has to wait after all its work, which has ended at this time.
    pub(crate) fn rests(&mut self, now: Instant) -> Option<Instant> {
        self.slowness.as_mut().map(|own| own.ends(now))
    }

    fn goes_on(&mut self, now: Instant) {
        if let Some(own) = &mut self.slowness {
            own.goes_on(now);
        }
    }

    /// Set when the record after the one that is due now is due; from when that one counts.
    fn pass_due(&mut self, due: Instant, now: Instant) -> Instant {
        match self.pace {
            Pace::Free | Pace::Think(_) => now,
            Pace::Slowed { .. } => {
                self.goes_on(now);
                now
            }
            Pace::Limited { per_second } => {
                self.due = Some(after_limited(due, now, per_second));
                now
            }
            Pace::Open {
                per_second,
                poisson,
            } => {
                let gaps: f64 = if poisson {
                    Exp1.sample(&mut self.arrivals)
                } else {
                    1.0
                };
                self.due = Some(due + Duration::from_secs_f64(gaps / per_second));
                due
            }
        }
    }

    fn take(&mut self, due: Instant) -> Task {
        let (file, record) = self.walk.at(self.index);
        let direction = match self.operation {
            Operation::Read => Direction::Read,
            Operation::Write => Direction::Write,
            Operation::Mix { read_percent } => {
                if nth(self.directions, self.index) % 100 < u64::from(read_percent) {
                    Direction::Read
                } else {
                    Direction::Write
                }
            }
        };
        self.index += 1;
        Task {
            file,
            record,
            direction,
            due,
        }
    }
}

/// When a limited thread may begin the record after the one that was due then and begins now.
fn after_limited(due: Instant, now: Instant, per_second: f64) -> Instant {
    let earliest = now.checked_sub(MADE_UP).unwrap_or(due);
    due.max(earliest) + Duration::from_secs_f64(1.0 / per_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_sleep_is_made_up_for_and_a_stall_is_not() {
        let due = Instant::now();
        let gap = Duration::from_millis(1);
        let after = |late| after_limited(due, due + late, 1000.0);
        assert_eq!(after(Duration::from_micros(50)), due + gap);
        let stall = Duration::from_secs(1);
        assert_eq!(after(stall) + MADE_UP, due + stall + gap);
    }
}
