//! Budgets in sectors (specification, section 8.3).

use crate::averages::decay;

/// Budget before the device's rate is known.
pub const DEFAULT_MAX_BUDGET: u64 = 16384;

/// Smoothed number of slots, in fixed point, from which the tuned budget is used: 11 slots.
const ENOUGH_SLOTS: u64 = 194;

/// Why a slot ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The idle timer fired and no request had come.
    TooIdle,
    /// The slot lasted too long.
    BudgetTimeout,
    /// The next request costs more than what is left.
    BudgetExhausted,
    /// The queue is empty and not worth idling.
    NoMoreRequests,
    /// Another queue takes over.
    Preempted,
}

/// Largest budget of the device.
#[derive(Clone, Copy, Debug)]
pub struct MaxBudget {
    pub sectors: u64,
    slots: u64,
}

impl MaxBudget {
    pub const fn new() -> Self {
        Self {
            sectors: DEFAULT_MAX_BUDGET,
            slots: 0,
        }
    }

    /// A slot begins.
    pub const fn count_slot(&mut self) {
        self.slots = decay(self.slots, 1);
    }

    /// The budget that new queues and the least budget derive from.
    const fn settled(&self) -> u64 {
        if self.slots < ENOUGH_SLOTS {
            DEFAULT_MAX_BUDGET
        } else {
            self.sectors
        }
    }

    /// Least budget.
    pub const fn least(&self) -> u64 {
        self.settled() / 32
    }

    /// Own largest budget of a new queue.
    pub const fn of_new_queue(&self) -> u64 {
        self.settled() * 2 / 3
    }

    /// Own largest budget of a sync queue without raising, after a slot that ended by `reason`.
    pub fn adapt(&self, own: u64, reason: Reason, service: u64, in_device: bool) -> u64 {
        let least = self.least();
        match reason {
            Reason::TooIdle if in_device => (2 * own).min(self.sectors),
            Reason::TooIdle if own > 5 * least => own - 4 * least,
            Reason::TooIdle => least,
            Reason::BudgetTimeout => (2 * own).min(self.sectors),
            Reason::BudgetExhausted => (4 * own).min(self.sectors),
            Reason::NoMoreRequests => service.max(least),
            Reason::Preempted => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_8_3_eleven_slots() {
        let mut max = MaxBudget::new();
        max.sectors = 64000;
        for _ in 0..10 {
            max.count_slot();
            assert_eq!(max.least(), 512);
        }
        max.count_slot();
        assert_eq!((max.least(), max.of_new_queue()), (2000, 42666));
    }

    #[test]
    fn section_8_3_own_max_budget_by_reason() {
        let max = MaxBudget::new();
        let adapt = |reason, own| max.adapt(own, reason, 700, false);
        assert_eq!(adapt(Reason::TooIdle, 10922), 8874);
        assert_eq!(adapt(Reason::TooIdle, 2560), 512);
        assert_eq!(max.adapt(3000, Reason::TooIdle, 0, true), 6000);
        assert_eq!(adapt(Reason::BudgetTimeout, 10922), 16384);
        assert_eq!(adapt(Reason::BudgetExhausted, 2000), 8000);
        assert_eq!(adapt(Reason::NoMoreRequests, 9000), 700);
        assert_eq!(max.adapt(9000, Reason::NoMoreRequests, 8, false), 512);
        assert_eq!(adapt(Reason::Preempted, 9000), 9000);
    }
}
