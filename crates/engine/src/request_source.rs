//! Source of I/O requests with their due times.

use std::time::{Duration, Instant};

use iostudy_pattern::{Record, RecordSequence, Stream, nth};
use rand_distr::{Distribution, Exp1};

use crate::control::SharedShare;
use crate::job::{Job, Length, Operation, Pace};
use crate::meter::Direction;
use crate::slowdown::Slowdown;

/// Lateness that a rate-limited thread may catch up on. It covers the 50 us wake-up delay of sleeps
/// but not stalls, because a limit is not an average.
const MAX_CATCH_UP: Duration = Duration::from_millis(5);

/// Identifiers of the random streams of one seed.
const ORDER_STREAM: u64 = 1;
const DIRECTION_STREAM: u64 = 2;
const ARRIVAL_STREAM: u64 = 3;

/// I/O request for one record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// Index among the thread's files.
    pub(crate) file: usize,
    pub(crate) record: Record,
    pub(crate) direction: Direction,
    /// Start of the latency measurement.
    pub(crate) due: Instant,
}

pub(crate) enum NextRequest {
    Issue(Request),
    /// No request is due before this time.
    Wait(Instant),
    End,
}

/// I/O requests of one thread.
pub(crate) struct RequestSource<'a> {
    operation: Operation,
    pace: Pace,
    sequence: RecordSequence,
    direction_key: u64,
    arrivals: Stream,
    index: u64,
    last_index: u64,
    deadline: Option<Instant>,
    /// Due time of the next record; `None` means immediately.
    due: Option<Instant>,
    slowdown: Option<Slowdown>,
    /// Share of the slow-down that another thread may change.
    shared: Option<&'a SharedShare>,
}

impl<'a> RequestSource<'a> {
    /// Create the requests of `thread` from `start`. The thread has worked since `began`.
    pub(crate) fn new(
        job: &Job,
        thread: usize,
        (began, start): (Instant, Instant),
        shared: Option<&'a SharedShare>,
    ) -> Self {
        let key = |kind| nth(nth(job.seed, kind), thread as u64);
        let sequence = RecordSequence::new(job.layout(thread), job.order, key(ORDER_STREAM));
        let (last_index, deadline) = match job.length {
            Length::Pass => (sequence.pass(), None),
            Length::Bytes(bytes) => (bytes.div_ceil(job.record_bytes as u64), None),
            Length::Endless => (u64::MAX, None),
            Length::Time(run) => (u64::MAX, Some(start + job.ramp + run)),
        };
        let due = match job.pace {
            Pace::ClosedLoop | Pace::SlowedDown { .. } => None,
            Pace::ThinkTime(_) | Pace::RateLimited { .. } | Pace::OpenLoop { .. } => Some(start),
        };
        let slowdown = match job.pace {
            Pace::SlowedDown { share } => Some(Slowdown::new(share, began)),
            Pace::ClosedLoop
            | Pace::ThinkTime(_)
            | Pace::RateLimited { .. }
            | Pace::OpenLoop { .. } => None,
        };
        Self {
            operation: job.operation,
            pace: job.pace,
            sequence,
            direction_key: key(DIRECTION_STREAM),
            arrivals: Stream::new(key(ARRIVAL_STREAM)),
            index: 0,
            last_index,
            deadline,
            due,
            slowdown,
            shared,
        }
    }

    /// Return the next request at time `now`. The caller must issue it immediately.
    #[inline]
    pub(crate) fn next(&mut self, now: Instant) -> NextRequest {
        let is_late = |deadline| now >= deadline;
        if self.index == self.last_index || self.deadline.is_some_and(is_late) {
            self.resume(now);
            return NextRequest::End;
        }
        match self.due {
            None => NextRequest::Issue(self.next_record(now)),
            Some(due) if due > now => {
                NextRequest::Wait(self.deadline.map_or(due, |end| due.min(end)))
            }
            Some(due) => {
                let measured_from = self.advance_due(due, now);
                NextRequest::Issue(self.next_record(measured_from))
            }
        }
    }

    /// Estimated number of records that had arrived by the deadline but were not issued.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count, rounded down
    pub(crate) fn unissued(&self) -> u64 {
        match (self.pace, self.due, self.deadline) {
            (Pace::OpenLoop { per_second, .. }, Some(due), Some(end)) if due < end => {
                ((end - due).as_secs_f64() * per_second) as u64 + 1
            }
            _ => 0,
        }
    }

    /// Note the completion of a record: think time or a wait begins.
    #[inline]
    pub(crate) fn complete(&mut self, now: Instant) {
        match self.pace {
            Pace::ThinkTime(pause) => self.due = Some(now + pause),
            Pace::SlowedDown { .. } => {
                self.change_share(now);
                self.due = self
                    .slowdown
                    .as_mut()
                    .and_then(|slowdown| slowdown.add_work(now));
            }
            Pace::ClosedLoop | Pace::RateLimited { .. } | Pace::OpenLoop { .. } => {}
        }
    }

    /// End of the final wait for work that ended at `now`.
    pub(crate) fn final_wait(&mut self, now: Instant) -> Option<Instant> {
        self.slowdown.as_mut().map(|slowdown| slowdown.finish(now))
    }

    fn change_share(&mut self, now: Instant) {
        if let (Some(shared), Some(slowdown)) = (self.shared, &mut self.slowdown) {
            let share = shared.get();
            #[allow(clippy::float_cmp)] // a copy of the same value
            if share != slowdown.share() {
                slowdown.change_share(share, now);
            }
        }
    }

    fn resume(&mut self, now: Instant) {
        if let Some(slowdown) = &mut self.slowdown {
            slowdown.resume(now);
        }
    }

    /// Set the due time of the following record. Return the start of the latency measurement of the
    /// current one.
    fn advance_due(&mut self, due: Instant, now: Instant) -> Instant {
        match self.pace {
            Pace::ClosedLoop | Pace::ThinkTime(_) => now,
            Pace::SlowedDown { .. } => {
                self.resume(now);
                now
            }
            Pace::RateLimited { per_second } => {
                self.due = Some(next_rate_limited(due, now, per_second));
                now
            }
            Pace::OpenLoop {
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

    fn next_record(&mut self, due: Instant) -> Request {
        let (file, record) = self.sequence.at(self.index);
        let direction = match self.operation {
            Operation::Read => Direction::Read,
            Operation::Write => Direction::Write,
            Operation::Mix { read_percent } => {
                if nth(self.direction_key, self.index) % 100 < u64::from(read_percent) {
                    Direction::Read
                } else {
                    Direction::Write
                }
            }
        };
        self.index += 1;
        Request {
            file,
            record,
            direction,
            due,
        }
    }
}

/// Earliest start of the record after one that was due at `due` and starts at `now`.
fn next_rate_limited(due: Instant, now: Instant, per_second: f64) -> Instant {
    let earliest = now.checked_sub(MAX_CATCH_UP).unwrap_or(due);
    due.max(earliest) + Duration::from_secs_f64(1.0 / per_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_wakeup_is_caught_up_and_a_stall_is_not() {
        let due = Instant::now();
        let gap = Duration::from_millis(1);
        let after = |late| next_rate_limited(due, due + late, 1000.0);
        assert_eq!(after(Duration::from_micros(50)), due + gap);
        let stall = Duration::from_secs(1);
        assert_eq!(after(stall) + MAX_CATCH_UP, due + stall + gap);
    }
}
