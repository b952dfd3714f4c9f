//! Latency histograms of a domain and their percentiles (specification, section 7.4).

use crate::clock::{Hz, Jiffies, Nanos};

/// Buckets of a histogram. The first half is at most the target.
const BUCKETS: usize = 8;

/// First bucket above the target.
pub const BAD: usize = BUCKETS / 2;

/// Samples that need no time limit.
const ENOUGH_SAMPLES: u64 = 500;

/// Bucket of `latency` for a domain with `target`.
pub fn bucket(latency: Nanos, target: Nanos) -> usize {
    let width = (target / BAD as u64).max(1);
    usize::try_from(latency.saturating_sub(1) / width).map_or(BUCKETS - 1, |b| b.min(BUCKETS - 1))
}

/// Which of a domain's histograms.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Latency from the allocation.
    Total,
    /// Latency from the issue to the device.
    Io,
}

/// Samples of a domain since its percentiles were last computed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Latencies {
    histograms: [[u64; BUCKETS]; 2],
    /// Jiffy at which a percentile needs no further samples. Both histograms share it.
    limit: Option<Jiffies>,
}

impl Latencies {
    /// Add a request.
    pub fn add(&mut self, kind: Kind, latency: Nanos, target: Nanos) {
        self.histograms[kind as usize][bucket(latency, target)] += 1;
    }

    /// Bucket of a percentile, after which the histogram is empty; none while samples are few and
    /// a second has not passed since the first look at them.
    pub fn percentile(&mut self, kind: Kind, percent: u64, hz: Hz, now: Jiffies) -> Option<usize> {
        let histogram = &mut self.histograms[kind as usize];
        let samples: u64 = histogram.iter().sum();
        if samples == 0 {
            return None;
        }
        let limit = *self.limit.get_or_insert(now + hz.seconds(1));
        if samples < ENOUGH_SAMPLES && now < limit {
            return None;
        }
        self.limit = None;
        let rank = (samples * percent).div_ceil(100);
        let counts = std::mem::take(histogram);
        let cumulated = counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        Some(cumulated.take_while(|&sum| sum < rank).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e7_4_bucket_edges() {
        let target = 2_000_000;
        let latencies = [500_000, 500_001, 2_000_000, 2_000_001, 9_000_000];
        assert_eq!(latencies.map(|l| bucket(l, target)), [0, 1, 3, 4, 7]);
        assert_eq!(bucket(0, target), 0);
        assert_eq!(bucket(1_000, 0), 7);
    }

    #[test]
    fn section_7_4_few_samples_wait_a_second() {
        let mut latencies = Latencies::default();
        let hz = Hz::HZ_1000;
        assert_eq!(latencies.percentile(Kind::Io, 90, hz, 0), None);
        latencies.add(Kind::Io, 1, 1000);
        assert_eq!(latencies.percentile(Kind::Io, 90, hz, 100), None);
        assert_eq!(latencies.percentile(Kind::Io, 90, hz, 1099), None);
        assert_eq!(latencies.percentile(Kind::Io, 90, hz, 1100), Some(0));
        assert_eq!(latencies.percentile(Kind::Io, 90, hz, 1100), None);
    }

    #[test]
    fn section_7_4_both_histograms_share_the_limit() {
        let mut latencies = Latencies::default();
        let hz = Hz::HZ_1000;
        for kind in [Kind::Io, Kind::Total] {
            latencies.add(kind, 1, 1000);
            assert_eq!(latencies.percentile(kind, 90, hz, 0), None);
        }
        assert_eq!(latencies.percentile(Kind::Io, 90, hz, 1000), Some(0));
        assert_eq!(latencies.percentile(Kind::Total, 99, hz, 1000), None);
    }

    #[test]
    fn section_7_4_rank() {
        let mut latencies = Latencies::default();
        for sample in 0..500 {
            let latency = if sample < 450 { 1 } else { 10_000 };
            latencies.add(Kind::Io, latency, 1000);
            latencies.add(Kind::Total, latency, 1000);
        }
        let hz = Hz::HZ_1000;
        assert_eq!(latencies.percentile(Kind::Io, 90, hz, 0), Some(0));
        assert_eq!(latencies.percentile(Kind::Total, 91, hz, 0), Some(7));
    }
}
