//! Latency histogram and operation counters shared by all crates.

mod io_stats;

use std::time::Duration;

use hdrhistogram::Histogram;

pub use io_stats::IoStats;

/// Histogram of latencies in nanoseconds, with three significant digits.
pub type Latencies = Histogram<u64>;

/// Return an empty histogram.
#[must_use]
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
