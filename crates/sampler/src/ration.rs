//! When what is dear may be read: such sources together take a share of one core, and no more.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Of how much time the share may be saved up. There is as much from the start: a trial of seconds
/// shall have more of what is dear than its two ends.
const SAVED: Duration = Duration::from_secs(10);

/// What the sources of a ration may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    /// The reciprocal of their share of one core.
    pub(crate) wait_per_cost: u32,
    /// Between two reads of a source, however cheap it is.
    pub(crate) shortest_wait: Duration,
}

/// Whose turn it is among a fixed number of sources, and when there is something to spend on it.
pub(crate) struct Ration {
    share: Share,
    /// When each may be read again.
    due: Vec<Instant>,
    /// When all that was spent will have been saved.
    saved: Instant,
}

impl Ration {
    /// One turn for each of `sources` at once; on average they take their share.
    pub(crate) fn of(sources: usize, share: Share) -> Self {
        let now = Instant::now();
        Self {
            share,
            due: vec![now; sources],
            saved: long_before(now),
        }
    }

    /// `read` each source whose turn it is, or `all` of them.
    pub(crate) fn take(&mut self, all: bool, mut read: impl FnMut(usize)) {
        let mut timed = |source| processor_time_of(|| read(source));
        if all {
            for source in 0..self.due.len() {
                self.spent(source, timed(source), Instant::now());
            }
        }
        while let Some(source) = self.next(Instant::now()) {
            self.spent(source, timed(source), Instant::now());
        }
    }

    /// The source that has been due for longest, unless others have spent what there is.
    fn next(&self, now: Instant) -> Option<usize> {
        let (due, source) = (0..).zip(&self.due).map(|(at, due)| (due, at)).min()?;
        (self.saved.max(*due) <= now).then_some(source)
    }

    /// Note that reading `source` took so much of the processor, whether or not it was its turn.
    fn spent(&mut self, source: usize, cost: Duration, now: Instant) {
        self.saved = self.saved.max(long_before(now)) + cost * self.share.wait_per_cost;
        self.due[source] = now + self.share.shortest_wait;
    }
}

/// Since when the share has been saved up if nothing was spent: at most since the machine began.
fn long_before(now: Instant) -> Instant {
    now.checked_sub(SAVED).unwrap_or(now)
}

/// How long this thread was on a processor while it did so: the time of others is no cost.
fn processor_time_of(done: impl FnOnce()) -> Duration {
    let before = processor_time();
    done();
    processor_time().saturating_sub(before)
}

fn processor_time() -> Duration {
    let taken = clock_gettime(ClockId::ThreadCPUTime);
    taken.try_into().expect("a time since the thread's start")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT_PER_COST: u32 = 1000;
    const SHARE: Share = Share {
        wait_per_cost: WAIT_PER_COST,
        shortest_wait: Duration::from_millis(900),
    };
    const CHEAP: Duration = Duration::from_micros(20);
    const MINUTE: Duration = Duration::from_secs(60);
    const INTERVAL: Duration = Duration::from_millis(100);

    /// How often each source, of its own cost, is read by whoever samples so often for a minute.
    fn reads(costs: &[Duration], interval: Duration) -> Vec<u32> {
        let mut ration = Ration::of(costs.len(), SHARE);
        let mut reads = vec![0; costs.len()];
        let begun = ration.due[0];
        let mut now = begun;
        while now < begun + MINUTE {
            while let Some(source) = ration.next(now) {
                reads[source] += 1;
                ration.spent(source, costs[source], now);
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
        let dear = Duration::from_millis(5);
        let costs = [CHEAP, dear, dear, 2 * dear];
        let reads = reads(&costs, INTERVAL);
        let spent: Duration = costs.iter().zip(&reads).map(|(cost, n)| *cost * *n).sum();
        // What was saved before, what a minute allows, and the one read that goes beyond it.
        assert!(
            spent <= (SAVED + MINUTE) / WAIT_PER_COST + 2 * dear,
            "{spent:?}"
        );
        assert!(spent >= MINUTE / WAIT_PER_COST, "{spent:?}");
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
        let mut ration = Ration::of(1, SHARE);
        let now = ration.saved + SAVED;
        ration.spent(0, Duration::from_millis(30), now);
        assert_eq!(ration.next(now + Duration::from_secs(19)), None);
        assert_eq!(ration.next(now + Duration::from_secs(20)), Some(0));
    }
}
