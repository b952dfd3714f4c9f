//! A known slow-down: a thread that waits for a share of its time.

use std::time::{Duration, Instant};

/// Shorter waits are put together: a sleep ends some 50 us late.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

/// How long a thread has worked, and until when it therefore has to wait.
///
/// Work that took b is to take b / (1 - share), which lowers the rate by the share. The end of a
/// wait is reckoned from the beginning of all work, so that neither sleeps that end late nor waits
/// that are put off add up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slowness {
    share: f64,
    began: Instant,
    worked: Duration,
    working_since: Instant,
}

impl Slowness {
    /// Work begins.
    pub(crate) fn new(share: f64, began: Instant) -> Self {
        Self {
            share,
            began,
            worked: Duration::ZERO,
            working_since: began,
        }
    }

    /// A wait is over, or is not waited for.
    pub(crate) fn goes_on(&mut self, now: Instant) {
        self.working_since = now;
    }

    /// A piece of work has ended: until when to wait, if it is long enough for that.
    pub(crate) fn has_worked(&mut self, now: Instant) -> Option<Instant> {
        let until = self.ends(now);
        (until >= now + SHORTEST_WAIT).then_some(until)
    }

    /// All work has ended: until when to wait.
    pub(crate) fn ends(&mut self, now: Instant) -> Instant {
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
        /// By a clock of its own: pieces of work, of which each takes so long and is followed by a
        /// sleep that ends so late, if it is followed by one.
        #[test]
        fn work_takes_its_share_longer_whatever_its_pieces_are_like(
            percent in 1_u32..90,
            pieces in prop::collection::vec((0_u64..20_000, 0_u64..300), 1..300),
        ) {
            let share = f64::from(percent) / 100.0;
            let began = Instant::now();
            let mut slowness = Slowness::new(share, began);
            let (mut now, mut worked) = (began, Duration::ZERO);
            for (piece, late) in pieces {
                worked += micros(piece);
                now += micros(piece);
                if let Some(until) = slowness.has_worked(now) {
                    prop_assert!(until >= now + SHORTEST_WAIT);
                    now = until + micros(late);
                    slowness.goes_on(now);
                }
            }
            now = now.max(slowness.ends(now));
            let wanted = worked.div_f64(1.0 - share);
            // The last sleep may end late, and rounding is by a nanosecond a piece.
            let beyond = (now - began).saturating_sub(wanted);
            prop_assert!(now - began + Duration::from_nanos(1) >= wanted);
            prop_assert!(beyond <= micros(300), "{beyond:?} too long");
        }
    }

    #[test]
    fn short_waits_are_put_together() {
        let began = Instant::now();
        let mut slowness = Slowness::new(0.5, began);
        assert_eq!(slowness.has_worked(began + micros(900)), None);
        let after_both = began + micros(1800);
        assert_eq!(slowness.has_worked(after_both), Some(began + micros(3600)));
    }
}
