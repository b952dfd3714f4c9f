//! Latency histogram and operation counters shared by all crates.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Histogram of latencies in nanoseconds, with three significant digits.
pub type Latencies = Histogram<u64>;

/// Return an empty histogram.
#[allow(clippy::missing_panics_doc)] // the arguments are constant
pub fn empty_latencies() -> Latencies {
    Histogram::new(3).expect("three significant digits are allowed")
}

/// Record the latency of one operation.
#[inline]
#[allow(clippy::missing_panics_doc)] // the arguments are constant
pub fn record(latencies: &mut Latencies, elapsed: Duration) {
    let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
    let recorded = latencies.record(nanoseconds);
    recorded.expect("an auto-resizing histogram accepts every value");
}

/// Add the counts of `others` to `all`.
#[allow(clippy::missing_panics_doc)] // the arguments are constant
pub fn merge(all: &mut Latencies, others: &Latencies) {
    let added = all.add(others);
    added.expect("an auto-resizing histogram accepts every value");
}

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
    use super::*;

    #[test]
    fn any_duration_can_be_recorded_and_merged() {
        let mut all = empty_latencies();
        let mut others = empty_latencies();
        record(&mut all, Duration::from_nanos(1500));
        record(&mut others, Duration::ZERO);
        record(&mut others, Duration::MAX);
        merge(&mut all, &others);
        assert_eq!((all.len(), all.min()), (3, 0));
        assert!(all.equivalent(all.value_at_quantile(0.5), 1500));
        assert!(all.equivalent(all.max(), u64::MAX));
    }
}

#[cfg(test)]
mod io_stats_tests {
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
