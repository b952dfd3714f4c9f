//! Weight raising of interactive and soft real-time queues (specification, section 8.7).

use crate::clock::{Jiffies, Nanos, SECOND};

/// Factor of an interactive queue.
pub const INTERACTIVE: u32 = 30;

/// Factor of a soft real-time queue.
pub const SOFT_REAL_TIME: u32 = 3000;

/// Length of a soft real-time period in ms.
pub const SOFT_PERIOD_MS: u64 = 300;

/// Time without requests after which a queue is interactive.
pub const INTERACTIVE_IDLE: Nanos = 2 * SECOND;

/// Sectors after which an interactive period ends.
const INTERACTIVE_SECTORS: u64 = 120_000;

/// Largest rate of a soft real-time process, in sectors per second.
const SOFT_RATE: u64 = 7000;

/// Raising of a queue's weight.
#[derive(Clone, Copy, Debug)]
pub struct Raising {
    factor: u32,
    until: Jiffies,
    /// End of the interactive period that a soft real-time one interrupts.
    interrupted_until: Option<Jiffies>,
    served: u64,
    busy_start: Nanos,
    busy_sectors: u64,
    /// Earliest start of the next soft real-time period; none before the queue has emptied.
    soft_start: Option<Nanos>,
    /// Time of the last arrival without raising, and of the last start or end of raising.
    pub last_change: Nanos,
    /// Whether the queue was created in a large burst.
    pub in_large_burst: bool,
}

impl Default for Raising {
    fn default() -> Self {
        Self {
            factor: 1,
            until: 0,
            interrupted_until: None,
            served: 0,
            busy_start: 0,
            busy_sectors: 0,
            soft_start: None,
            last_change: 0,
            in_large_burst: false,
        }
    }
}

impl Raising {
    /// Factor of the weight: 1, or that of the period.
    pub const fn factor(&self) -> u32 {
        self.factor
    }

    pub const fn is_raised(&self) -> bool {
        self.factor > 1
    }

    /// Factor of the slot's timeout.
    pub const fn timeout_factor(&self) -> u32 {
        if self.factor == SOFT_REAL_TIME {
            1
        } else {
            self.factor
        }
    }

    /// Raise the weight by `factor` up to the jiffy `until`.
    pub const fn begin(&mut self, factor: u32, until: Jiffies, now: Nanos) {
        self.interrupted_until = match (factor, self.factor) {
            (SOFT_REAL_TIME, INTERACTIVE) => Some(self.until),
            (SOFT_REAL_TIME, SOFT_REAL_TIME) => self.interrupted_until,
            _ => None,
        };
        self.factor = factor;
        self.until = until;
        self.served = 0;
        self.last_change = now;
    }

    pub const fn end(&mut self, now: Nanos) {
        self.factor = 1;
        self.interrupted_until = None;
        self.last_change = now;
    }

    /// End a period that is over. Linux 6.18 then continues an interrupted interactive period.
    pub fn end_period(&mut self, jiffy: Jiffies, now: Nanos) {
        let interrupted = self.interrupted_until.take();
        self.end(now);
        if let Some(until) = interrupted.filter(|until| jiffy < *until && !self.in_large_burst) {
            self.factor = INTERACTIVE;
            self.until = until;
        }
    }

    /// Whether the period is over. It ends early for a queue that turned out to belong to a large
    /// burst.
    pub const fn is_over(&self, jiffy: Jiffies) -> bool {
        let sectors = self.factor == INTERACTIVE && self.served >= INTERACTIVE_SECTORS;
        self.is_raised() && (jiffy >= self.until || sectors || self.in_large_burst)
    }

    /// The queue becomes busy.
    pub const fn become_busy(&mut self, now: Nanos) {
        self.busy_start = now;
        self.busy_sectors = 0;
    }

    pub const fn serve(&mut self, sectors: u64) {
        self.busy_sectors += sectors;
        if self.is_raised() {
            self.served += sectors;
        }
    }

    /// Whether a queue that becomes busy now is soft real-time by its rate.
    pub fn is_soft(&self, now: Nanos) -> bool {
        self.soft_start.is_some_and(|start| now >= start)
    }

    /// The queue has emptied; `pause` is the shortest time until its next soft start.
    pub fn emptied(&mut self, now: Nanos, pause: Nanos) {
        let by_rate = self.busy_start + self.busy_sectors * SECOND / SOFT_RATE;
        let start = by_rate.max(now + pause);
        self.soft_start = Some(self.soft_start.map_or(start, |old| old.max(start)));
    }
}

/// Queues created shortly after one another, which are not raised if they are many.
#[derive(Debug, Default)]
pub struct Burst {
    last: Option<Nanos>,
    members: Vec<u32>,
    large: bool,
}

const BURST_INTERVAL: Nanos = 180_000_000;
const LARGE_BURST: usize = 8;

impl Burst {
    /// Queue `id` is created at `now`. Returns the queues that now belong to a large burst.
    pub fn add(&mut self, id: u32, now: Nanos) -> Vec<u32> {
        if self.last.is_none_or(|last| now - last > BURST_INTERVAL) {
            self.large = false;
            self.members.clear();
        }
        self.last = Some(now);
        self.members.push(id);
        self.large |= self.members.len() >= LARGE_BURST;
        if self.large {
            std::mem::take(&mut self.members)
        } else {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_8_7_large_burst() {
        let mut burst = Burst::default();
        for id in 0..7 {
            assert!(burst.add(id, u64::from(id) * BURST_INTERVAL).is_empty());
        }
        assert_eq!(burst.add(7, 7 * BURST_INTERVAL).len(), 8);
        assert_eq!(burst.add(8, 8 * BURST_INTERVAL), [8]);
        assert!(burst.add(9, 9 * BURST_INTERVAL + 1).is_empty());
    }

    #[test]
    fn section_8_7_soft_start_limits_the_rate() {
        let mut raising = Raising::default();
        raising.become_busy(SECOND);
        raising.serve(7000);
        raising.emptied(SECOND, 12_000_000);
        assert!(!raising.is_soft(2 * SECOND - 1));
        assert!(raising.is_soft(2 * SECOND));
    }

    #[test]
    fn section_8_7_interactive_period_ends_by_time_or_sectors() {
        let mut raising = Raising::default();
        raising.begin(INTERACTIVE, 100, 0);
        assert!(!raising.is_over(99) && raising.is_over(100));
        raising.serve(INTERACTIVE_SECTORS);
        assert!(raising.is_over(0));
    }

    #[test]
    fn section_8_7_an_interactive_period_continues_after_a_soft_one() {
        let mut raising = Raising::default();
        raising.begin(INTERACTIVE, 100, 0);
        raising.begin(SOFT_REAL_TIME, 50, 0);
        raising.begin(SOFT_REAL_TIME, 60, 0);
        raising.end_period(60, 0);
        assert_eq!(raising.factor(), INTERACTIVE);
        assert!(!raising.is_over(99) && raising.is_over(100));
        raising.end_period(100, 0);
        assert!(!raising.is_raised());
    }

    #[test]
    fn section_8_7_a_large_burst_ends_raising() {
        let mut raising = Raising::default();
        raising.begin(INTERACTIVE, 100, 0);
        raising.in_large_burst = true;
        assert!(raising.is_over(0));
    }
}
