//! The kyber scheduler: token pools per kind of request keep latency near targets (specification,
//! section 7).
//!
//! The specification has no unverified statement about it. A target may be at most 2^63 - 1 ns
//! here, and 2^64 - 1 ns in the kernel. A latency of zero counts as the lowest bucket.

mod latency;
mod tokens;

use crate::clock::{Nanos, SECOND};
use crate::fifo::Fifo;
use crate::kyber::latency::{Kind, Latencies};
use crate::kyber::tokens::{MAX_DEPTH, MEASURED, Tokens};
use crate::merge::MergeTarget;
use crate::request::{Bio, Operation, RequestId};
use crate::scheduler::Scheduler;
use crate::state::QueueState;
use crate::tunables::{Tunable, TunableError, TunableInfo, TunableTable, Unit};

/// Reads, writes, discards and other commands.
const DOMAINS: usize = 4;

/// Requests of a domain that are dispatched in a row.
const BATCH: [u32; DOMAINS] = [16, 8, 1, 1];

/// Newest requests of a CPU and domain that a bio can join.
const MERGE_CANDIDATES: usize = 8;

const DISCARD_TARGET: Nanos = 5 * SECOND;

/// Values of the tunables.
#[derive(Clone, Copy, Debug)]
struct Values {
    read_lat_nsec: i64,
    write_lat_nsec: i64,
}

static TUNABLES: TunableTable<Values> = TunableTable {
    scheduler: "kyber",
    tunables: &[
        Tunable::new("read_lat_nsec", Unit::Nanoseconds, (0, i64::MAX), |v| {
            &mut v.read_lat_nsec
        }),
        Tunable::new("write_lat_nsec", Unit::Nanoseconds, (0, i64::MAX), |v| {
            &mut v.write_lat_nsec
        }),
    ],
};

/// Requests of a hardware queue.
#[derive(Debug)]
struct HardwareQueue {
    /// Lists of each CPU by domain.
    cpus: Vec<[Fifo; DOMAINS]>,
    /// Requests that were taken from the lists of the CPUs.
    flushed: [Fifo; DOMAINS],
    domain: usize,
    batch: u32,
}

impl HardwareQueue {
    /// Move the requests of `domain` from the CPUs to the flushed list.
    fn flush(&mut self, state: &mut QueueState, domain: usize) {
        for cpu in &mut self.cpus {
            while let Some(id) = cpu[domain].pop(&mut state.requests) {
                self.flushed[domain].push(&mut state.requests, id);
            }
        }
    }

    fn has_requests(&self, domain: usize) -> bool {
        !self.flushed[domain].is_empty() || self.cpus.iter().any(|cpu| !cpu[domain].is_empty())
    }
}

/// State of kyber.
#[derive(Debug)]
pub struct Kyber {
    values: Values,
    hardware: Vec<HardwareQueue>,
    tokens: [Tokens; DOMAINS],
    latencies: [Latencies; MEASURED],
    timer: Option<Nanos>,
}

impl Kyber {
    /// The scheduler for an empty queue.
    #[must_use]
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        let queues = usize::from(state.settings.hardware_queues.max(1));
        let cpus = usize::from(state.settings.cpus.max(1));
        let hardware = || HardwareQueue {
            cpus: vec![[Fifo::default(); DOMAINS]; cpus],
            flushed: [Fifo::default(); DOMAINS],
            domain: 0,
            batch: 0,
        };
        Box::new(Self {
            values: Values {
                read_lat_nsec: 2_000_000,
                write_lat_nsec: 10_000_000,
            },
            hardware: std::iter::repeat_with(hardware).take(queues).collect(),
            tokens: MAX_DEPTH.map(Tokens::new),
            latencies: Default::default(),
            timer: None,
        })
    }

    fn cpu_list(&self, state: &QueueState, bio: &Bio) -> &Fifo {
        let queue = &self.hardware[state.hardware_queue(bio.cpu)];
        &queue.cpus[usize::from(bio.cpu) % queue.cpus.len()][domain(bio)]
    }

    const fn targets(&self) -> [Nanos; MEASURED] {
        [
            self.values.read_lat_nsec.unsigned_abs(),
            self.values.write_lat_nsec.unsigned_abs(),
            DISCARD_TARGET,
        ]
    }

    /// Take a request of the current domain if it has one and a token is left.
    fn try_domain(&mut self, state: &mut QueueState, hardware_queue: usize) -> Option<RequestId> {
        let queue = &mut self.hardware[hardware_queue];
        let domain = queue.domain;
        if !queue.has_requests(domain) || !self.tokens[domain].take() {
            return None;
        }
        if queue.flushed[domain].is_empty() {
            queue.flush(state, domain);
        }
        queue.batch += 1;
        queue.flushed[domain].pop(&mut state.requests)
    }

    fn choose(&mut self, state: &mut QueueState, hardware_queue: usize) -> Option<RequestId> {
        let HardwareQueue { domain, batch, .. } = self.hardware[hardware_queue];
        if batch < BATCH[domain] {
            let chosen = self.try_domain(state, hardware_queue);
            if chosen.is_some() {
                return chosen;
            }
        }
        self.hardware[hardware_queue].batch = 0;
        (1..=DOMAINS).find_map(|step| {
            self.hardware[hardware_queue].domain = (domain + step) % DOMAINS;
            self.try_domain(state, hardware_queue)
        })
    }

    fn measure(&mut self, state: &QueueState, id: RequestId) {
        let request = &state.requests[id];
        let domain = domain(&request.bio);
        let targets = self.targets();
        let Some(latencies) = self.latencies.get_mut(domain) else {
            return;
        };
        let target = targets[domain];
        latencies.add(Kind::Total, state.now - request.allocated, target);
        latencies.add(Kind::Io, state.now - request.issued, target);
    }
}

const fn domain(bio: &Bio) -> usize {
    match bio.operation {
        Operation::Read => 0,
        Operation::Write => 1,
        Operation::Discard => 2,
        Operation::Other => 3,
    }
}

impl Scheduler for Kyber {
    fn name(&self) -> &'static str {
        "kyber"
    }

    fn may_allocate(&self, state: &QueueState, bio: &Bio) -> bool {
        let queue = state.hardware_queue(bio.cpu);
        let limit = state.settings.nr_requests;
        let asynchronous = state.allocated(queue, false);
        let allocated = state.allocated(queue, true) + asynchronous;
        allocated < limit && (bio.is_sync() || asynchronous < (limit * 3 / 4).max(1))
    }

    fn find_merge(&self, state: &QueueState, bio: &Bio) -> Option<MergeTarget> {
        state.newest_merge(self.cpu_list(state, bio), MERGE_CANDIDATES, bio)
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        let queue = &mut self.hardware[state.hardware_queue(bio.cpu)];
        let cpu = usize::from(bio.cpu) % queue.cpus.len();
        queue.cpus[cpu][domain(&bio)].push(&mut state.requests, id);
    }

    fn dispatch(&mut self, state: &mut QueueState, hardware_queue: usize) {
        if let Some(id) = self.choose(state, hardware_queue) {
            state.dispatch_append(id);
        }
    }

    fn complete(&mut self, state: &mut QueueState, id: RequestId) {
        self.tokens[domain(&state.requests[id].bio)].release();
        self.measure(state, id);
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
            self.latencies
                .each_mut()
                .map(|l| l.percentile(kind, percent, hz, now))
        };
        let p90_io = percentiles(Kind::Io, 90);
        let p99_total = percentiles(Kind::Total, 99);
        tokens::resize(&mut self.tokens[..MEASURED], p90_io, p99_total);
    }

    fn tunables(&self) -> Vec<TunableInfo> {
        TUNABLES.infos()
    }

    fn read_tunable(&self, state: &QueueState, name: &str) -> Result<String, TunableError> {
        TUNABLES.read(state.settings.hz, &self.values, name)
    }

    fn write_tunable(
        &mut self,
        state: &mut QueueState,
        name: &str,
        text: &str,
    ) -> Result<(), TunableError> {
        TUNABLES.write(state.settings.hz, &mut self.values, name, text)
    }
}
