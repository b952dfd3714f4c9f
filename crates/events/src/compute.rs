//! Computation between two events.

use std::hint::black_box;
use std::time::{Duration, Instant};

use iostudy_pattern::nth;
use iostudy_worker_pool::bounded_sleep;
use rustix::time::{ClockId, clock_gettime};

/// Steps between two clock reads, about 10 microseconds.
const STEPS_PER_CLOCK_READ: u64 = 10_000;

/// Computation after reading an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compute {
    /// Use this much CPU time; it takes longer where CPUs are shared.
    Burn(Duration),
    /// Sleep for this time.
    Sleep(Duration),
}

impl Compute {
    /// Duration of the computation for one event.
    pub fn time(self) -> Duration {
        match self {
            Self::Burn(time) | Self::Sleep(time) => time,
        }
    }

    /// Compute for one event, calling `has_time_left` often. Return false if it returned false
    /// before the end.
    pub(crate) fn run_to_end<E>(
        self,
        mut has_time_left: impl FnMut() -> Result<bool, E>,
    ) -> Result<bool, E> {
        let end = self.clock().saturating_add(self.time());
        loop {
            let left = end.saturating_sub(self.clock());
            if left.is_zero() {
                return Ok(true);
            }
            if !has_time_left()? {
                return Ok(false);
            }
            match self {
                Self::Burn(_) => burn(),
                Self::Sleep(_) => bounded_sleep(left),
            }
        }
    }

    /// Clock of the computation: the thread's CPU time or the monotonic clock.
    fn clock(self) -> Duration {
        let clock = match self {
            Self::Burn(_) => ClockId::ThreadCPUTime,
            Self::Sleep(_) => ClockId::Monotonic,
        };
        Duration::try_from(clock_gettime(clock)).unwrap_or_default()
    }
}

fn burn() {
    black_box((0..STEPS_PER_CLOCK_READ).fold(0, |value, step| value ^ nth(value, step)));
}

/// Whether the deadline is over.
pub(crate) fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() > deadline)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn run_to_end(compute: Compute, has_time_left: impl Fn() -> bool) -> bool {
        let outcome: Result<bool, Infallible> = compute.run_to_end(|| Ok(has_time_left()));
        outcome.unwrap()
    }

    #[test]
    fn burning_uses_processor_time_and_sleeping_does_not() {
        let time = Duration::from_millis(60);
        for (compute, uses) in [(Compute::Burn(time), true), (Compute::Sleep(time), false)] {
            let (started, before) = (Instant::now(), Compute::Burn(time).clock());
            assert!(run_to_end(compute, || true));
            let used = Compute::Burn(time).clock().saturating_sub(before);
            assert!(started.elapsed() >= time);
            assert_eq!(used >= time, uses, "{compute:?} used {used:?}");
        }
    }

    #[test]
    fn zero_time_needs_no_check() {
        for compute in [
            Compute::Burn(Duration::ZERO),
            Compute::Sleep(Duration::ZERO),
        ] {
            assert!(run_to_end(compute, || panic!("no check expected")));
        }
    }

    #[test]
    fn computing_ends_soon_after_a_stop() {
        for compute in [Compute::Burn(Duration::MAX), Compute::Sleep(Duration::MAX)] {
            assert!(!run_to_end(compute, || false));
        }
    }
}
