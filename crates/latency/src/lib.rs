//! How long single operations took, in the one kind of histogram that all crates keep.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Latencies in nanoseconds to three significant digits.
pub type Latencies = Histogram<u64>;

/// Of no operation yet.
#[must_use]
#[allow(clippy::missing_panics_doc)] // it never does
pub fn no_latencies() -> Latencies {
    Histogram::new(3).expect("three significant digits are allowed")
}

/// An operation took so long.
#[inline]
#[allow(clippy::missing_panics_doc)] // it never does
pub fn note(latencies: &mut Latencies, elapsed: Duration) {
    let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
    let noted = latencies.record(nanoseconds);
    noted.expect("a histogram that grows takes every value");
}

/// Take the operations of others in.
#[allow(clippy::missing_panics_doc)] // it never does
pub fn add(all: &mut Latencies, others: &Latencies) {
    let added = all.add(others);
    added.expect("a histogram that grows takes every value");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_time_can_be_noted_and_added() {
        let mut all = no_latencies();
        let mut others = no_latencies();
        note(&mut all, Duration::from_nanos(1500));
        note(&mut others, Duration::ZERO);
        note(&mut others, Duration::MAX);
        add(&mut all, &others);
        assert_eq!((all.len(), all.min()), (3, 0));
        assert!(all.equivalent(all.value_at_quantile(0.5), 1500));
        assert!(all.equivalent(all.max(), u64::MAX));
    }
}
