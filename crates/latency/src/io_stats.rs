//! Counters of the operations of one kind.

use crate::{Latencies, empty_latencies, merge};

/// Number of bytes and latencies of the operations of one kind. They only grow.
#[derive(Debug, Clone)]
pub struct IoStats {
    /// Number of bytes transferred.
    pub bytes: u64,
    /// Latencies of single operations, in nanoseconds.
    pub latencies: Latencies,
}

impl IoStats {
    /// Statistics of no operation.
    #[must_use]
    pub fn new() -> Self {
        Self {
            bytes: 0,
            latencies: empty_latencies(),
        }
    }

    /// Add the statistics of `others`.
    pub fn merge(&mut self, others: &Self) {
        self.bytes += others.bytes;
        merge(&mut self.latencies, &others.latencies);
    }

    /// Statistics of the operations since an earlier state of the same counters.
    ///
    /// # Panics
    ///
    /// If `earlier` is not such a state.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut latencies = self.latencies.clone();
        let subtracted = latencies.subtract(&earlier.latencies);
        subtracted.expect("counters only grow");
        Self {
            bytes: self.bytes - earlier.bytes,
            latencies,
        }
    }
}

impl Default for IoStats {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::record;

    fn add(stats: &mut IoStats, microseconds: u64) {
        stats.bytes += 10;
        record(&mut stats.latencies, Duration::from_micros(microseconds));
    }

    #[test]
    fn a_difference_has_the_operations_between_two_states() {
        let mut stats = IoStats::new();
        add(&mut stats, 5);
        let earlier = stats.clone();
        add(&mut stats, 70_000);
        add(&mut stats, 2);
        let since = stats.since(&earlier);
        assert_eq!((since.bytes, since.latencies.len()), (20, 2));
        assert!(since.latencies.equivalent(since.latencies.min(), 2_000));
        assert!(
            since
                .latencies
                .equivalent(since.latencies.max(), 70_000_000)
        );
        let mut all = earlier;
        all.merge(&since);
        assert_eq!(all.latencies, stats.latencies);
    }
}
