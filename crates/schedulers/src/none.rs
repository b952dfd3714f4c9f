//! No scheduler on a multi-queue device: a list per CPU (specification, section 5).

use crate::merge::MergeTarget;
use crate::request::{Bio, RequestId};
use crate::request_set::Fifo;
use crate::scheduler::Scheduler;
use crate::state::QueueState;

/// Newest requests of a CPU that a bio can join.
const MERGE_CANDIDATES: usize = 8;
/// Tags for each completion of a batch. Traces of Linux 6.18 show batches of 4 completions at 32
/// tags, and of 2 at 16.
const TAGS_PER_COMPLETION: u32 = 8;

/// Software queues of the CPUs.
///
/// A busy device serves the CPUs in turn, any other in the order of their numbers. It is busy from
/// the time when it is full until a dispatch finds the software queues empty.
#[derive(Debug)]
pub struct NoScheduler {
    software: Vec<Fifo>,
    busy: bool,
    next_cpu: usize,
}

impl NoScheduler {
    /// The scheduler for an empty queue.
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        let cpus = usize::from(state.settings.cpus.max(1));
        Box::new(Self {
            software: vec![Fifo::default(); cpus],
            busy: false,
            next_cpu: 0,
        })
    }

    fn cpu(&self, bio: &Bio) -> usize {
        usize::from(bio.cpu) % self.software.len()
    }

    /// The CPU whose turn it is, among those with requests.
    fn next_cpu(&self) -> Option<usize> {
        let cpus = self.software.len();
        let first = if self.busy { self.next_cpu } else { 0 };
        (first..first + cpus)
            .map(|cpu| cpu % cpus)
            .find(|&cpu| !self.software[cpu].is_empty())
    }
}

impl Scheduler for NoScheduler {
    fn name(&self) -> &'static str {
        "none"
    }

    fn may_allocate(&self, state: &QueueState, _bio: &Bio) -> bool {
        state.has_tag()
    }

    fn wake_batch(&self, state: &QueueState) -> Option<u32> {
        Some((state.settings.nr_requests / TAGS_PER_COMPLETION).max(1))
    }

    fn find_merge(&self, state: &QueueState, bio: &Bio) -> Option<MergeTarget> {
        state.newest_merge(&self.software[self.cpu(bio)], MERGE_CANDIDATES, bio)
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let cpu = self.cpu(&state.requests[id].bio);
        self.software[cpu].push(&mut state.requests, id);
    }

    fn dispatch(&mut self, state: &mut QueueState) {
        let Some(cpu) = self.next_cpu() else {
            self.busy = false;
            return;
        };
        if let Some(id) = self.software[cpu].pop(&mut state.requests) {
            state.dispatch_append(id);
        }
        self.next_cpu = cpu + 1;
        self.busy |= state.in_driver + 1 >= state.settings.queue_depth;
    }
}
