//! Estimates of the device: peak rate and command queueing (specification, section 8.9).

use super::queue::{SEEK_DISTANCE, SMALL_REQUEST};
use crate::clock::{MILLISECOND, Nanos, SECOND};
use crate::request::Bio;

const SHORT_GAP: Nanos = 2 * MILLISECOND;
const LONG_GAP: Nanos = 100 * MILLISECOND;
const SAMPLES: u32 = 32;
const LARGEST_RATE: f64 = 20.0;

/// Rate in sectors per us and time of a reference device that loads a large application.
const ROTATIONAL: (f64, f64) = (0.2136, 7e6);
const NON_ROTATIONAL: (f64, f64) = (0.5035, 2.5e6);

const fn reference(rotational: bool) -> (f64, f64) {
    if rotational {
        ROTATIONAL
    } else {
        NON_ROTATIONAL
    }
}

/// Estimate of the device's peak rate from windows of dispatched requests.
#[derive(Clone, Copy, Debug)]
pub struct PeakRate {
    /// Sectors per microsecond.
    rate: f64,
    rotational: bool,
    window: Option<Window>,
    last_completion: Option<Nanos>,
    last_position: u64,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    start: Nanos,
    last_dispatch: Nanos,
    sectors: u64,
    samples: u32,
    sequential: u32,
    largest: u32,
}

impl PeakRate {
    pub const fn new(rotational: bool) -> Self {
        Self {
            rate: reference(rotational).0 * 2.0 / 3.0,
            rotational,
            window: None,
            last_completion: None,
            last_position: 0,
        }
    }

    /// Sectors that the device moves in `time` at its peak rate.
    pub fn sectors_in(&self, time: Nanos) -> u64 {
        round(self.rate * microseconds(time))
    }

    /// Length of an interactive period in ms.
    pub fn interactive_ms(&self) -> u64 {
        let (rate, time) = reference(self.rotational);
        round((rate * time / self.rate / 1000.0).clamp(3000.0, 25000.0))
    }

    /// A request is dispatched while `in_device` others are in the device. Returns whether the
    /// estimate changed.
    pub fn dispatched(&mut self, bio: &Bio, now: Nanos, in_device: u32) -> bool {
        let position = std::mem::replace(&mut self.last_position, bio.end());
        let distance = position.abs_diff(bio.start);
        let seek = distance > SEEK_DISTANCE && (self.rotational || bio.sectors < SMALL_REQUEST);
        let recent = self
            .last_completion
            .is_some_and(|last| now - last < SHORT_GAP);
        let changed = self.window.is_some_and(|window| {
            now - window.last_dispatch > LONG_GAP && in_device == 0 && self.close(window)
        });
        let window = self.window.get_or_insert(Window {
            start: now,
            last_dispatch: now,
            sectors: 0,
            samples: 0,
            sequential: 0,
            largest: 0,
        });
        if window.samples % SAMPLES == 0 {
            window.largest = 0;
        }
        window.samples += 1;
        window.sequential += u32::from((in_device > 0 || recent) && !seek);
        window.sectors += u64::from(bio.sectors);
        window.largest = window.largest.max(bio.sectors);
        window.last_dispatch = now;
        let window = *window;
        changed | (now - window.start >= SECOND && self.close(window))
    }

    /// A request completes. Returns whether the estimate changed.
    pub fn completed(&mut self, now: Nanos) -> bool {
        let gap = self
            .last_completion
            .replace(now)
            .map_or(0, |last| now - last);
        self.window.is_some_and(|window| {
            let bound = f64::from(window.largest) / microseconds(gap.max(1));
            gap > SHORT_GAP && bound < 1.0 / 1024.0 && self.close(window)
        })
    }

    /// End `window` and use it if it is representative.
    fn close(&mut self, window: Window) -> bool {
        self.window = None;
        let dispatches = window.last_dispatch - window.start;
        if window.samples < SAMPLES || dispatches < 300 * MILLISECOND {
            return false;
        }
        let completions = self
            .last_completion
            .map_or(0, |last| last.saturating_sub(window.start));
        let rate = to_f64(window.sectors) / microseconds(dispatches.max(completions));
        let few_sequential = window.sequential * 4 < window.samples * 3;
        if few_sequential && rate <= self.rate || rate > LARGEST_RATE {
            return false;
        }
        let weight = u64::from(9 * window.sequential / window.samples);
        let divisor = to_f64(10 - (weight * dispatches / SECOND).min(8));
        self.rate = self.rate * (divisor - 1.0) / divisor + rate / divisor;
        true
    }
}

fn microseconds(time: Nanos) -> f64 {
    to_f64(time) / 1000.0
}

#[expect(
    clippy::cast_precision_loss,
    reason = "times of a window and small counts"
)]
const fn to_f64(value: u64) -> f64 {
    value as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive and small"
)]
const fn round(value: f64) -> u64 {
    value as u64
}

/// Whether the device takes several commands at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandQueueing {
    known: Option<bool>,
    samples: u32,
    peak: u32,
}

impl CommandQueueing {
    /// Whether it does; unknown counts as yes.
    pub fn present(&self) -> bool {
        self.known.unwrap_or(true)
    }

    /// A request completes while `in_device` are in the device, with it, and `queued` wait.
    /// `thin` says whether a queue with a short think time and few requests limits the depth.
    pub fn completed(&mut self, in_device: u32, queued: u32, thin: bool) {
        self.peak = self.peak.max(in_device);
        if self.known == Some(true) || in_device + queued <= 3 || thin && in_device < 3 {
            return;
        }
        self.samples += 1;
        if self.samples == SAMPLES {
            self.known = Some(self.peak > 3);
            self.samples = 0;
            self.peak = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::ProcessId;

    #[test]
    fn section_8_7_period_of_a_new_device() {
        assert_eq!(PeakRate::new(true).interactive_ms(), 10_500);
        assert_eq!(PeakRate::new(false).interactive_ms(), 3750);
    }

    #[test]
    fn section_8_9_rate_of_a_sequential_stream() {
        let mut rate = PeakRate::new(true);
        let mut now = 100 * SECOND;
        for index in 0..10_000_u64 {
            rate.dispatched(&Bio::read(ProcessId(1), index * 1024, 1024), now, 0);
            now += 2 * MILLISECOND;
            rate.completed(now);
        }
        let sectors = rate.sectors_in(SECOND);
        assert!(sectors.abs_diff(512_000) < 5_120, "{sectors}");
    }

    #[test]
    fn section_8_9_command_queueing_stays_detected() {
        let mut queueing = CommandQueueing::default();
        assert!(queueing.present());
        (0..32).for_each(|_| queueing.completed(1, 5, false));
        assert!(!queueing.present());
        (0..32).for_each(|_| queueing.completed(4, 5, false));
        assert!(queueing.present());
        (0..64).for_each(|_| queueing.completed(1, 5, false));
        assert!(queueing.present());
    }
}
