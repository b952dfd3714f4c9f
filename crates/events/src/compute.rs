//! What a job does between two events.

use std::hint::black_box;
use std::time::{Duration, Instant};

use iostudy_crew::nap;
use iostudy_pattern::nth;
use rustix::time::{ClockId, clock_gettime};

/// Steps between two looks at the clock: some 10 microseconds.
const STEPS: u64 = 10_000;

/// What is done with an event after it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compute {
    /// Use that much processor time, which takes longer where processors are shared.
    Burn(Duration),
    /// Do nothing for that long.
    Sleep(Duration),
}

impl Compute {
    /// How long an event is computed.
    #[must_use]
    pub fn time(self) -> Duration {
        match self {
            Self::Burn(time) | Self::Sleep(time) => time,
        }
    }

    /// Compute for one event, asking `go_on` often; false if that said no before the end.
    pub(crate) fn carry_out<E>(
        self,
        mut go_on: impl FnMut() -> Result<bool, E>,
    ) -> Result<bool, E> {
        let end = self.clock().saturating_add(self.time());
        loop {
            let left = end.saturating_sub(self.clock());
            if left.is_zero() {
                return Ok(true);
            }
            if !go_on()? {
                return Ok(false);
            }
            match self {
                Self::Burn(_) => burn(),
                Self::Sleep(_) => nap(left),
            }
        }
    }

    /// What passes while it computes: this thread's processor time, or time itself.
    fn clock(self) -> Duration {
        let clock = match self {
            Self::Burn(_) => ClockId::ThreadCPUTime,
            Self::Sleep(_) => ClockId::Monotonic,
        };
        Duration::try_from(clock_gettime(clock)).unwrap_or_default()
    }
}

fn burn() {
    black_box((0..STEPS).fold(0, |value, step| value ^ nth(value, step)));
}

/// Whether it is later than that.
pub(crate) fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() > deadline)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn carry_out(compute: Compute, go_on: impl Fn() -> bool) -> bool {
        let outcome: Result<bool, Infallible> = compute.carry_out(|| Ok(go_on()));
        outcome.unwrap()
    }

    #[test]
    fn burning_uses_processor_time_and_sleeping_does_not() {
        let time = Duration::from_millis(60);
        for (compute, uses) in [(Compute::Burn(time), true), (Compute::Sleep(time), false)] {
            let (started, before) = (Instant::now(), Compute::Burn(time).clock());
            assert!(carry_out(compute, || true));
            let used = Compute::Burn(time).clock().saturating_sub(before);
            assert!(started.elapsed() >= time);
            assert_eq!(used >= time, uses, "{compute:?} used {used:?}");
        }
    }

    #[test]
    fn no_time_is_no_work() {
        for compute in [
            Compute::Burn(Duration::ZERO),
            Compute::Sleep(Duration::ZERO),
        ] {
            assert!(carry_out(compute, || panic!("nothing to ask")));
        }
    }

    #[test]
    fn it_ends_soon_after_it_is_told() {
        for compute in [Compute::Burn(Duration::MAX), Compute::Sleep(Duration::MAX)] {
            assert!(!carry_out(compute, || false));
        }
    }
}
