//! CPU budget for expensive sources: together they use a fixed share of one core.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Maximum period whose budget can be saved. The full savings are available at the start, so that a
/// trial of seconds has several samples.
const MAX_SAVINGS: Duration = Duration::from_secs(10);

/// Limits of a budget.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BudgetShare {
    /// Reciprocal of the share of one core.
    pub(crate) wait_per_cost: u32,
    /// Minimum wait between two reads of a source.
    pub(crate) min_wait: Duration,
}

/// Budget of a fixed number of sources, with their due times.
pub(crate) struct CpuBudget {
    share: BudgetShare,
    /// Earliest next read of each source.
    due: Vec<Instant>,
    /// Time at which the costs so far are repaid.
    repaid_at: Instant,
}

impl CpuBudget {
    /// Create a budget in which every source is due immediately.
    pub(crate) fn of(sources: usize, share: BudgetShare) -> Self {
        let now = Instant::now();
        Self {
            share,
            due: vec![now; sources],
            repaid_at: initial_repaid_at(now),
        }
    }

    /// Call `read` for each due source, or for `all` sources.
    pub(crate) fn take(&mut self, all: bool, mut read: impl FnMut(usize)) {
        let mut timed = |source| cpu_time_of(|| read(source));
        if all {
            for source in 0..self.due.len() {
                self.charge(source, timed(source), Instant::now());
            }
        }
        while let Some(source) = self.next(Instant::now()) {
            self.charge(source, timed(source), Instant::now());
        }
    }

    /// Source that has been due the longest, if the budget allows.
    fn next(&self, now: Instant) -> Option<usize> {
        let (due, source) = (0..).zip(&self.due).map(|(at, due)| (due, at)).min()?;
        (self.repaid_at.max(*due) <= now).then_some(source)
    }

    /// Charge the CPU time of reading `source`, due or not.
    fn charge(&mut self, source: usize, cost: Duration, now: Instant) {
        self.repaid_at =
            self.repaid_at.max(initial_repaid_at(now)) + cost * self.share.wait_per_cost;
        self.due[source] = now + self.share.min_wait;
    }
}

/// Start of the initial savings, at most the boot time.
fn initial_repaid_at(now: Instant) -> Instant {
    now.checked_sub(MAX_SAVINGS).unwrap_or(now)
}

/// CPU time of this thread during `done`.
fn cpu_time_of(done: impl FnOnce()) -> Duration {
    let before = cpu_time();
    done();
    cpu_time().saturating_sub(before)
}

fn cpu_time() -> Duration {
    let taken = clock_gettime(ClockId::ThreadCPUTime);
    taken.try_into().expect("a time since the thread's start")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT_PER_COST: u32 = 1000;
    const SHARE: BudgetShare = BudgetShare {
        wait_per_cost: WAIT_PER_COST,
        min_wait: Duration::from_millis(900),
    };
    const CHEAP: Duration = Duration::from_micros(20);
    const MINUTE: Duration = Duration::from_secs(60);
    const INTERVAL: Duration = Duration::from_millis(100);

    /// How often each source, of its own cost, is read by whoever samples so often for a minute.
    fn reads(costs: &[Duration], interval: Duration) -> Vec<u32> {
        let mut cpu_budget = CpuBudget::of(costs.len(), SHARE);
        let mut reads = vec![0; costs.len()];
        let begun = cpu_budget.due[0];
        let mut now = begun;
        while now < begun + MINUTE {
            while let Some(source) = cpu_budget.next(now) {
                reads[source] += 1;
                cpu_budget.charge(source, costs[source], now);
            }
            now += interval;
        }
        reads
    }

    #[test]
    fn what_is_cheap_is_read_once_a_second_however_often_samples_are_taken() {
        for interval in [INTERVAL, Duration::from_millis(10), Duration::from_secs(1)] {
            for times in reads(&[CHEAP; 8], interval) {
                assert!((60..=67).contains(&times), "{times} in a minute");
            }
        }
    }

    #[test]
    fn together_they_take_no_more_than_their_share() {
        let throttled = Duration::from_millis(5);
        let costs = [CHEAP, throttled, throttled, 2 * throttled];
        let reads = reads(&costs, INTERVAL);
        let charge: Duration = costs.iter().zip(&reads).map(|(cost, n)| *cost * *n).sum();
        // What was saved before, what a minute allows, and the one read that goes beyond it.
        assert!(
            charge <= (MAX_SAVINGS + MINUTE) / WAIT_PER_COST + 2 * throttled,
            "{charge:?}"
        );
        assert!(charge >= MINUTE / WAIT_PER_COST, "{charge:?}");
    }

    #[test]
    fn nothing_starves() {
        let costs = [
            CHEAP,
            Duration::from_millis(5),
            CHEAP,
            Duration::from_millis(1),
        ];
        let reads = reads(&costs, INTERVAL);
        assert!(reads.iter().all(|times| *times >= 7), "{reads:?}");
    }

    #[test]
    fn what_was_read_out_of_its_turn_is_spent_all_the_same() {
        let mut cpu_budget = CpuBudget::of(1, SHARE);
        let now = cpu_budget.repaid_at + MAX_SAVINGS;
        cpu_budget.charge(0, Duration::from_millis(30), now);
        assert_eq!(cpu_budget.next(now + Duration::from_secs(19)), None);
        assert_eq!(cpu_budget.next(now + Duration::from_secs(20)), Some(0));
    }
}
