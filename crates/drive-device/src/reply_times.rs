//! Times that replies take, which grow with the data that the kernel copies.

use iostudy_drive::{Nanos, Operation};

/// Replies that a prediction uses.
const RECENT: usize = 8;

/// Longest prediction: until a reply ends, other commands wait to reach the model.
const LONGEST: Nanos = 1_000_000;

/// Classes of replies: without data, and by the binary logarithm of the blocks.
const CLASSES: usize = 34;

/// Times of the most recent replies of each class of sizes.
#[derive(Debug)]
pub struct ReplyTimes {
    recent: [[Nanos; RECENT]; CLASSES],
    counts: [usize; CLASSES],
}

impl Default for ReplyTimes {
    /// Without replies, none is predicted to take any time.
    fn default() -> Self {
        Self {
            recent: [[0; RECENT]; CLASSES],
            counts: [0; CLASSES],
        }
    }
}

impl ReplyTimes {
    /// Time of the shortest of the recent replies, so that few replies end early.
    pub fn predict(&self, operation: Operation, blocks: u32) -> Nanos {
        let recent = &self.recent[class(operation, blocks)];
        recent.iter().min().map_or(0, |&least| least.min(LONGEST))
    }

    /// Record the time of a reply.
    pub fn record(&mut self, operation: Operation, blocks: u32, time: Nanos) {
        let class = class(operation, blocks);
        self.recent[class][self.counts[class] % RECENT] = time;
        self.counts[class] += 1;
    }
}

/// Only reads have data in their reply.
fn class(operation: Operation, blocks: u32) -> usize {
    match operation {
        Operation::Read => blocks.checked_ilog2().map_or(0, |log| log as usize + 1),
        Operation::Write | Operation::Flush => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prediction_is_the_shortest_of_the_recent_replies() {
        let mut times = ReplyTimes::default();
        for time in 1..=7 {
            times.record(Operation::Read, 512, time * 1000);
        }
        assert_eq!(times.predict(Operation::Read, 512), 0);
        times.record(Operation::Read, 512, 9000);
        assert_eq!(times.predict(Operation::Read, 512), 1000);
        times.record(Operation::Read, 512, 9000);
        assert_eq!(times.predict(Operation::Read, 512), 2000);
    }

    #[test]
    fn sizes_and_operations_have_their_own_times() {
        let mut times = ReplyTimes::default();
        for _ in 0..RECENT {
            times.record(Operation::Read, 512, 60_000);
            times.record(Operation::Write, 512, 4000);
        }
        assert_eq!(times.predict(Operation::Read, 8), 0);
        assert_eq!(times.predict(Operation::Flush, 0), 4000);
        assert_eq!(times.predict(Operation::Read, u32::MAX), 0);
    }

    #[test]
    fn a_stall_is_not_predicted() {
        let mut times = ReplyTimes::default();
        for _ in 0..RECENT {
            times.record(Operation::Read, 8, 30_000_000);
        }
        assert_eq!(times.predict(Operation::Read, 8), LONGEST);
    }
}
