//! The kyber scheduler: token pools for reads and writes keep latency near targets
//! (specification, section 7).
//!
//! A target may be at most 2^63 - 1 ns here, and 2^64 - 1 ns in the kernel. A latency of zero counts
//! as the lowest bucket. Nothing submits discards and other commands, so they have no domains.

use crate::clock::{Hz, Jiffies, Nanos};
use crate::merge::MergeTarget;
use crate::request::{Bio, RequestId};
use crate::request_set::Fifo;
use crate::scheduler::Scheduler;
use crate::state::QueueState;
use crate::tunables::{TunableError, TunableTable, tunables};

/// Reads and writes.
const DOMAINS: usize = 2;

/// Requests of a domain that are dispatched in a row.
const BATCH: [u32; DOMAINS] = [16, 8];

/// Largest number of tokens per domain.
const MAX_DEPTH: [u32; DOMAINS] = [256, 128];

/// Newest requests of a CPU and domain that a bio can join.
const MERGE_CANDIDATES: usize = 8;

/// Buckets of a histogram. The first half is at most the target.
const BUCKETS: usize = 8;

/// First bucket above the target.
const BAD: usize = BUCKETS / 2;

/// Samples that need no time limit.
const ENOUGH_SAMPLES: u64 = 500;

/// Bucket of `latency` for a domain with `target`.
fn bucket(latency: Nanos, target: Nanos) -> usize {
    let width = (target / BAD as u64).max(1);
    usize::try_from(latency.saturating_sub(1) / width).map_or(BUCKETS - 1, |b| b.min(BUCKETS - 1))
}

/// Which of a domain's histograms.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Latency from the allocation.
    Total,
    /// Latency from the issue to the device.
    Io,
}

/// Samples of a domain since its percentiles were last computed.
#[derive(Clone, Copy, Debug, Default)]
struct Latencies {
    histograms: [[u64; BUCKETS]; 2],
    /// Jiffy at which a percentile needs no further samples. Both histograms share it.
    limit: Option<Jiffies>,
}

impl Latencies {
    /// Add a request.
    fn add(&mut self, kind: Kind, latency: Nanos, target: Nanos) {
        self.histograms[kind as usize][bucket(latency, target)] += 1;
    }

    /// Bucket of a percentile, after which the histogram is empty; none while samples are few and
    /// a second has not passed since the first look at them.
    fn percentile(&mut self, kind: Kind, percent: u64, hz: Hz, now: Jiffies) -> Option<usize> {
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

/// Tokens of a domain.
#[derive(Clone, Copy, Debug)]
struct Tokens {
    depth: u32,
    max: u32,
    used: u32,
    /// Percentile that a later congested window uses if it has none.
    remembered: Option<usize>,
}

impl Tokens {
    /// All tokens of a domain.
    const fn new(max: u32) -> Self {
        Self {
            depth: max,
            max,
            used: 0,
            remembered: None,
        }
    }

    /// Take a token if one is left.
    const fn take(&mut self) -> bool {
        let left = self.used < self.depth;
        if left {
            self.used += 1;
        }
        left
    }

    /// Give a token back.
    const fn release(&mut self) {
        self.used -= 1;
    }

    /// Resize after a window with bucket `p99` of the total latency.
    fn resize(&mut self, congested: bool, p99: Option<usize>) {
        let p99 = if congested {
            p99.or(self.remembered.take())
        } else {
            self.remembered = p99.or(self.remembered);
            p99
        };
        if congested {
            self.remembered = None;
        }
        let Some(bucket) = p99.filter(|&bucket| congested || bucket >= BAD) else {
            return;
        };
        let buckets = u32::try_from(bucket + 1).unwrap_or(u32::MAX);
        self.depth = (self.depth * buckets / 4).clamp(1, self.max);
    }
}

/// Resize the domains after a window with these percentiles.
fn resize<'a>(
    domains: impl IntoIterator<Item = &'a mut Tokens>,
    p90_io: [Option<usize>; DOMAINS],
    p99_total: [Option<usize>; DOMAINS],
) {
    let congested = p90_io.iter().flatten().any(|&bucket| bucket >= BAD);
    for (tokens, p99) in domains.into_iter().zip(p99_total) {
        tokens.resize(congested, p99);
    }
}

/// Values of the tunables in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Values {
    read_lat_nsec: i64,
    write_lat_nsec: i64,
}

const TUNABLES: TunableTable<Values> = tunables!("kyber", Values {
    read_lat_nsec: Number 0..=i64::MAX;
    write_lat_nsec: Number 0..=i64::MAX;
});

/// Reads or writes.
#[derive(Debug)]
struct Domain {
    /// A list per CPU.
    cpus: Vec<Fifo>,
    /// Requests that were taken from the lists of the CPUs.
    flushed: Fifo,
    tokens: Tokens,
    latencies: Latencies,
}

impl Domain {
    fn list_of(&self, bio: &Bio) -> usize {
        usize::from(bio.cpu) % self.cpus.len()
    }

    /// Take a request if the domain has one and a token is left.
    fn take(&mut self, state: &mut QueueState) -> Option<RequestId> {
        let is_empty = self.flushed.is_empty() && self.cpus.iter().all(Fifo::is_empty);
        if is_empty || !self.tokens.take() {
            return None;
        }
        if self.flushed.is_empty() {
            for list in &mut self.cpus {
                while let Some(id) = list.pop(&mut state.requests) {
                    self.flushed.push(&mut state.requests, id);
                }
            }
        }
        self.flushed.pop(&mut state.requests)
    }
}

/// State of kyber.
#[derive(Debug)]
pub struct Kyber {
    values: Values,
    domains: [Domain; DOMAINS],
    /// Domain that is served.
    current: usize,
    /// Requests of it that were served in a row.
    batch: u32,
    timer: Option<Nanos>,
}

impl Kyber {
    /// The scheduler for an empty queue.
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        let cpus = usize::from(state.settings.cpus.max(1));
        Box::new(Self {
            values: Values {
                read_lat_nsec: 2_000_000,
                write_lat_nsec: 10_000_000,
            },
            domains: MAX_DEPTH.map(|depth| Domain {
                cpus: vec![Fifo::default(); cpus],
                flushed: Fifo::default(),
                tokens: Tokens::new(depth),
                latencies: Latencies::default(),
            }),
            current: 0,
            batch: 0,
            timer: None,
        })
    }

    fn take_current(&mut self, state: &mut QueueState) -> Option<RequestId> {
        let taken = self.domains[self.current].take(state)?;
        self.batch += 1;
        Some(taken)
    }

    fn choose(&mut self, state: &mut QueueState) -> Option<RequestId> {
        let first = self.current;
        if self.batch < BATCH[first]
            && let Some(chosen) = self.take_current(state)
        {
            return Some(chosen);
        }
        self.batch = 0;
        (1..=DOMAINS).find_map(|step| {
            self.current = (first + step) % DOMAINS;
            self.take_current(state)
        })
    }
}

const fn domain(bio: &Bio) -> usize {
    if bio.is_read() { 0 } else { 1 }
}

impl Scheduler for Kyber {
    fn name(&self) -> &'static str {
        "kyber"
    }

    fn may_allocate(&self, state: &QueueState, bio: &Bio) -> bool {
        let limit = (state.settings.nr_requests * 3 / 4).max(1);
        state.has_tag() && (bio.is_sync() || state.allocated(false) < limit)
    }

    fn find_merge(&self, state: &QueueState, bio: &Bio) -> Option<MergeTarget> {
        let domain = &self.domains[domain(bio)];
        state.newest_merge(&domain.cpus[domain.list_of(bio)], MERGE_CANDIDATES, bio)
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = &state.requests[id].bio;
        let domain = &mut self.domains[domain(bio)];
        let list = domain.list_of(bio);
        domain.cpus[list].push(&mut state.requests, id);
    }

    fn dispatch(&mut self, state: &mut QueueState) {
        if let Some(id) = self.choose(state) {
            state.dispatch_append(id);
        }
    }

    fn complete(&mut self, state: &mut QueueState, id: RequestId) {
        let request = &state.requests[id];
        let index = domain(&request.bio);
        let target = [self.values.read_lat_nsec, self.values.write_lat_nsec][index].unsigned_abs();
        let Domain {
            tokens, latencies, ..
        } = &mut self.domains[index];
        tokens.release();
        latencies.add(Kind::Total, state.now - request.allocated, target);
        latencies.add(Kind::Io, state.now - request.issued, target);
        let hz = state.settings.hz;
        let time = hz.tick(state.jiffy() + hz.over(10));
        self.timer = Some(self.timer.map_or(time, |timer| timer.min(time)));
    }

    fn next_timer(&self, _state: &QueueState) -> Option<Nanos> {
        self.timer
    }

    fn run_timer(&mut self, state: &mut QueueState) {
        self.timer = None;
        let (hz, now) = (state.settings.hz, state.jiffy());
        let mut percentiles = |kind, percent| {
            let domains = self.domains.each_mut();
            domains.map(|domain| domain.latencies.percentile(kind, percent, hz, now))
        };
        let p90_io = percentiles(Kind::Io, 90);
        let p99_total = percentiles(Kind::Total, 99);
        let tokens = self.domains.iter_mut().map(|domain| &mut domain.tokens);
        resize(tokens, p90_io, p99_total);
    }

    fn tune(&mut self, state: &QueueState, name: &str, text: &str) -> Result<(), TunableError> {
        TUNABLES.write(state.settings.hz, &mut self.values, name, text)
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

    #[test]
    fn e7_2_depth_control() {
        let mut domains = MAX_DEPTH.map(Tokens::new);
        let depths = |domains: &[Tokens; 2]| [domains[0].depth, domains[1].depth];
        resize(&mut domains, [Some(1), Some(5)], [Some(2), Some(7)]);
        assert_eq!(depths(&domains), [192, 128]);
        resize(&mut domains, [None, Some(5)], [Some(0), None]);
        assert_eq!(depths(&domains), [48, 128]);
        resize(&mut domains, [Some(0); 2], [Some(4), None]);
        assert_eq!(depths(&domains), [60, 128]);
    }

    #[test]
    fn section_7_4_a_congested_window_uses_the_remembered_percentile_once() {
        let mut domains = MAX_DEPTH.map(Tokens::new);
        resize(&mut domains, [Some(0); 2], [Some(1), None]);
        assert_eq!(domains[0].depth, 256);
        resize(&mut domains, [None, Some(7)], [None; 2]);
        assert_eq!(domains[0].depth, 128);
        resize(&mut domains, [None, Some(7)], [None; 2]);
        assert_eq!(domains[0].depth, 128);
    }

    #[test]
    fn section_7_7_depth_stays_in_range() {
        let mut domains = MAX_DEPTH.map(Tokens::new);
        for _ in 0..20 {
            resize(&mut domains, [Some(4); 2], [Some(0); 2]);
        }
        assert_eq!(domains.map(|tokens| tokens.depth), [1, 1]);
        for _ in 0..20 {
            resize(&mut domains, [Some(0); 2], [Some(7); 2]);
        }
        assert_eq!(domains.map(|tokens| tokens.depth), MAX_DEPTH);
    }
}
