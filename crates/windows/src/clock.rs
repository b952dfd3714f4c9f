//! Conversion of `CLOCK_MONOTONIC` readings.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Number of readings; the one with the least time around it is kept.
const READINGS: usize = 16;

/// Relation between [`Instant`] and seconds of `CLOCK_MONOTONIC`, which it counts on Linux without
/// giving access to them.
///
/// All conversions of one clock have the same error, less than the time of two clock reads.
#[derive(Debug, Clone, Copy)]
pub struct MonotonicClock {
    instant: Instant,
    since_boot: Duration,
}

impl MonotonicClock {
    /// Compare both clocks.
    pub fn new() -> Self {
        let readings = (0..READINGS).map(|_| {
            let before = Instant::now();
            let since_boot = Duration::try_from(clock_gettime(ClockId::Monotonic));
            let clock = Self {
                instant: before,
                since_boot: since_boot.unwrap_or_default(),
            };
            (before.elapsed(), clock)
        });
        let closest = readings.min_by_key(|(around, _)| *around);
        closest.map_or_else(|| unreachable!("there are readings"), |(_, clock)| clock)
    }

    /// Instant of a reading; `None` if it is before the clock's start or beyond its range.
    pub fn instant(&self, seconds: f64) -> Option<Instant> {
        let reading = Duration::try_from_secs_f64(seconds).ok()?;
        match reading.checked_sub(self.since_boot) {
            Some(later) => self.instant.checked_add(later),
            None => self
                .instant
                .checked_sub(self.since_boot.saturating_sub(reading)),
        }
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> f64 {
        Duration::try_from(clock_gettime(ClockId::Monotonic))
            .unwrap()
            .as_secs_f64()
    }

    #[test]
    fn an_instant_lies_between_two_readings_around_it() {
        let clock = MonotonicClock::new();
        let (before, instant, after) = (now(), Instant::now(), now());
        let converted = |seconds| clock.instant(seconds).unwrap();
        let error = Duration::from_micros(5);
        assert!(converted(before) <= instant + error);
        assert!(converted(after) + error >= instant);
    }

    #[test]
    fn readings_out_of_range_are_refused() {
        let clock = MonotonicClock::new();
        for seconds in [-1.0, f64::NAN, f64::INFINITY, 1e30] {
            assert_eq!(clock.instant(seconds), None, "{seconds}");
        }
    }
}
