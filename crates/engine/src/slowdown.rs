//! Slow-down of a thread by an exact share of its time.

use std::time::{Duration, Instant};

/// Shorter waits accumulate: a sleep ends about 50 us late.
const MIN_WAIT: Duration = Duration::from_millis(1);

/// Work time of a thread and the wait time that it owes.
///
/// Work of duration b takes b / (1 - share), which lowers the rate by the share. Each wait is
/// computed from the start of all work, so that neither late wake-ups nor postponed waits
/// accumulate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slowdown {
    share: f64,
    began: Instant,
    worked: Duration,
    working_since: Instant,
}

impl Slowdown {
    /// Start the work at `began`.
    pub(crate) fn new(share: f64, began: Instant) -> Self {
        Self {
            share,
            began,
            worked: Duration::ZERO,
            working_since: began,
        }
    }

    /// Change the share for all work after `now`. A wait that is owed stays owed; lateness is not
    /// made up for under the new share.
    pub(crate) fn change_share(&mut self, share: f64, now: Instant) {
        self.began = self.finish(now).max(now);
        self.worked = Duration::ZERO;
        self.share = share;
    }

    /// Share of the time that the thread waits.
    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    /// Resume work after a wait, or without one.
    pub(crate) fn resume(&mut self, now: Instant) {
        self.working_since = now;
    }

    /// Add work that ended at `now`. Return the end of the wait if it is long enough for a sleep.
    pub(crate) fn add_work(&mut self, now: Instant) -> Option<Instant> {
        let until = self.finish(now);
        (until >= now + MIN_WAIT).then_some(until)
    }

    /// Finish all work at `now`. Return the end of the final wait.
    pub(crate) fn finish(&mut self, now: Instant) -> Instant {
        self.worked += now - self.working_since;
        self.working_since = now;
        self.began + self.worked.div_f64(1.0 - self.share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    proptest! {
        /// Simulated clock: each piece of work may be followed by a sleep that ends late.
        #[test]
        fn work_takes_its_share_longer_for_any_piece_lengths(
            percent in 1_u32..90,
            pieces in prop::collection::vec((0_u64..20_000, 0_u64..300), 1..300),
        ) {
            let share = f64::from(percent) / 100.0;
            let began = Instant::now();
            let mut slowdown = Slowdown::new(share, began);
            let (mut now, mut worked) = (began, Duration::ZERO);
            for (piece, late) in pieces {
                worked += micros(piece);
                now += micros(piece);
                if let Some(until) = slowdown.add_work(now) {
                    prop_assert!(until >= now + MIN_WAIT);
                    now = until + micros(late);
                    slowdown.resume(now);
                }
            }
            now = now.max(slowdown.finish(now));
            let options = worked.div_f64(1.0 - share);
            // The last sleep may end late; rounding errors are a nanosecond per piece.
            let beyond = (now - began).saturating_sub(options);
            prop_assert!(now - began + Duration::from_nanos(1) >= options);
            prop_assert!(beyond <= micros(300), "{beyond:?} too long");
        }
    }

    #[test]
    fn a_changed_share_applies_to_later_work_only() {
        let began = Instant::now();
        let mut slowdown = Slowdown::new(0.5, began);
        assert_eq!(slowdown.add_work(began + micros(900)), None);
        slowdown.change_share(0.0, began + micros(900));
        assert_eq!(slowdown.finish(began + micros(900)), began + micros(1800));
        slowdown.resume(began + micros(1800));
        assert_eq!(slowdown.add_work(began + micros(50_000)), None);
        // A stall during a wait is not made up for under the next share.
        slowdown.resume(began + micros(90_000));
        slowdown.change_share(0.5, began + micros(90_000));
        let after = began + micros(92_000);
        assert_eq!(slowdown.add_work(after), Some(began + micros(94_000)));
    }

    #[test]
    fn short_waits_accumulate() {
        let began = Instant::now();
        let mut slowdown = Slowdown::new(0.5, began);
        assert_eq!(slowdown.add_work(began + micros(900)), None);
        let after_both = began + micros(1800);
        assert_eq!(slowdown.add_work(after_both), Some(began + micros(3600)));
    }
}
