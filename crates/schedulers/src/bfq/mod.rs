//! BFQ: shares of the device in sectors, by budgets and B-WF2Q+ (specification, section 8).
//!
//! Left out, as in the specification: cgroups (one root group), several actuators, "stable"
//! merging, waker detection, the adaptive part of injection, and per-group limits of tags. The
//! specification marks as unverified that its source text is that of the official kernel.
//!
//! Where the text leaves a choice:
//! - Service charged for time advances the virtual time like other service.
//! - A queue's own budget adapts after the charge for time.
//! - The candidate for preemption always differs from the queue in service.
//! - A first request has a seek distance of zero and, as in Linux 6.18, the longest think time.
//! - Injection takes the first queue by class and finish stamp that can pay.
//! - A merge takes effect with the request that finds the partner. A process gets its own queue
//!   back at its first request after the split.
//! - A queue of a large burst is never raised.
//! - Limits of tags count requests; the kernel limits the numbers of the tags.

mod arrival;
mod budget;
mod busy;
mod cooperation;
mod device;
mod idling;
mod queue;
mod raising;
mod service_tree;
mod slot;
mod tunables;

use crate::bfq::budget::MaxBudget;
use crate::bfq::busy::Busy;
use crate::bfq::cooperation::ProcessQueues;
use crate::bfq::device::{CommandQueueing, PeakRate};
use crate::bfq::queue::Queue;
use crate::bfq::raising::Burst;
use crate::bfq::service_tree::{QueueId, ServiceTree};
use crate::bfq::slot::Slot;
use crate::bfq::tunables::{TUNABLES, Values};
use crate::clock::{MILLISECOND, Nanos};
use crate::request::{Bio, PriorityClass, ProcessId, RequestId};
use crate::scheduler::Scheduler;
use crate::state::QueueState;
use crate::tunables::{TunableError, TunableInfo};

/// Queues of async requests: eight levels of two classes, and the idle class.
const ASYNC_QUEUES: usize = 17;

/// State of BFQ.
#[derive(Debug)]
pub struct Bfq {
    values: Values,
    queues: Vec<Queue>,
    /// Queues of processes that have ended.
    spare: Vec<QueueId>,
    processes: Vec<Option<ProcessQueues>>,
    async_queues: [Option<QueueId>; ASYNC_QUEUES],
    trees: [ServiceTree; 3],
    slot: Option<Slot>,
    busy: Busy,
    burst: Burst,
    rate: PeakRate,
    queueing: CommandQueueing,
    max_budget: MaxBudget,
    idle_considered: Nanos,
    /// End of the last dispatched request.
    last_position: u64,
    in_device: u32,
    queued: u32,
    /// Allocated sync writes per hardware queue.
    sync_writes: Vec<u32>,
}

impl Bfq {
    /// The scheduler for an empty queue.
    #[must_use]
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        let settings = &state.settings;
        Box::new(Self {
            values: Values::new(settings.hz),
            queues: Vec::new(),
            spare: Vec::new(),
            processes: Vec::new(),
            async_queues: [None; ASYNC_QUEUES],
            trees: Default::default(),
            slot: None,
            busy: Busy::default(),
            burst: Burst::default(),
            rate: PeakRate::new(settings.rotational),
            queueing: CommandQueueing::default(),
            max_budget: MaxBudget::new(),
            idle_considered: state.now,
            last_position: 0,
            in_device: 0,
            queued: 0,
            sync_writes: vec![0; usize::from(settings.hardware_queues.max(1))],
        })
    }

    fn queue(&self, id: QueueId) -> &Queue {
        &self.queues[id as usize]
    }

    fn is_idle_class(&self, id: QueueId) -> bool {
        self.queue(id).priority.class == PriorityClass::Idle
    }

    /// Count `id` as busy with its current weight, or no longer.
    fn recount(&mut self, id: QueueId) {
        let queue = &mut self.queues[id as usize];
        let now = queue.is_busy().then(|| {
            let factor = queue.raising.factor();
            (queue.priority.class, queue.base_weight(), factor)
        });
        if let Some(before) = std::mem::replace(&mut queue.counted, now) {
            self.busy.remove(before);
        }
        if let Some(now) = now {
            self.busy.add(now);
        }
    }

    /// The largest budget follows the peak rate unless it was set.
    fn tune_max_budget(&mut self, state: &QueueState) {
        if self.values.max_budget == 0 {
            let ms = state
                .settings
                .hz
                .to_ms(self.values.timeout_sync.unsigned_abs());
            self.max_budget.sectors = self.rate.sectors_in(ms * MILLISECOND).max(1);
        }
    }

    fn is_sync_write(bio: &Bio) -> bool {
        bio.is_sync() && !bio.is_read()
    }

    fn release_tag(&mut self, state: &QueueState, bio: &Bio) {
        let queue = state.hardware_queue(bio.cpu);
        self.sync_writes[queue] -= u32::from(Self::is_sync_write(bio));
    }

    /// Apply the side effects of a new value of `name`.
    fn apply(&mut self, state: &QueueState, name: &str) {
        match name {
            "max_budget" if self.values.max_budget > 0 => {
                self.max_budget.sectors = self.values.max_budget.unsigned_abs();
            }
            "max_budget" | "timeout_sync" => self.tune_max_budget(state),
            "strict_guarantees" if self.values.strict_guarantees != 0 => {
                self.values.slice_idle = self.values.slice_idle.max(8_000_000);
            }
            "low_latency" if self.values.low_latency == 0 => self.end_all_raising(state),
            _ => {}
        }
    }

    fn end_all_raising(&mut self, state: &QueueState) {
        for id in 0..self.queues.len() {
            if self.queues[id].raising.is_raised() {
                let id = QueueId::try_from(id).expect("fewer than 2^32 queues");
                self.end_raising(state, id);
            }
        }
    }
}

impl Scheduler for Bfq {
    fn name(&self) -> &'static str {
        "bfq"
    }

    fn may_allocate(&self, state: &QueueState, bio: &Bio) -> bool {
        let queue = state.hardware_queue(bio.cpu);
        let asynchronous = state.allocated(queue, false);
        let tags = state.settings.nr_requests;
        let sixteenths = match (Self::is_sync_write(bio), self.busy.raised() > 0) {
            (true, true) => 6,
            (true, false) => 12,
            (false, true) => 3,
            (false, false) => 8,
        };
        let limit = (tags * sixteenths / 16).max(1);
        let permitted = bio.is_read()
            || if bio.is_sync() {
                self.sync_writes[queue] < limit
            } else {
                asynchronous < limit
            };
        permitted && state.allocated(queue, true) + asynchronous < tags
    }

    fn front_merge(&self, _state: &QueueState, bio: &Bio) -> Option<RequestId> {
        self.queue(self.queue_of(bio)?).sorted.find(bio.end())
    }

    fn permits_merge(&self, state: &QueueState, request: RequestId, bio: &Bio) -> bool {
        self.queue_of(bio) == Some(state.requests[request].queue)
    }

    fn front_merged(&mut self, state: &mut QueueState, request: RequestId, old_start: u64) {
        let start = state.requests[request].bio.start;
        let queue = &mut self.queues[state.requests[request].queue as usize];
        queue.sorted.remove(old_start, request);
        queue.sorted.insert(start, request);
    }

    fn previous_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        let request_state = &state.requests[request];
        let queue = self.queue(request_state.queue);
        queue.sorted.previous(request_state.bio.start, request)
    }

    fn next_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        let request_state = &state.requests[request];
        let queue = self.queue(request_state.queue);
        queue.sorted.next(request_state.bio.start, request)
    }

    fn joined(&mut self, state: &mut QueueState, survivor: RequestId, absorbed: RequestId) {
        let bio = state.requests[absorbed].bio;
        let queue = &mut self.queues[state.requests[absorbed].queue as usize];
        queue.sorted.remove(bio.start, absorbed);
        queue.fifo.join(&mut state.requests, survivor, absorbed);
        if queue.next == Some(absorbed) {
            queue.next = Some(survivor);
        }
        self.queued -= 1;
        self.release_tag(state, &bio);
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        self.sync_writes[state.hardware_queue(bio.cpu)] += u32::from(Self::is_sync_write(&bio));
        self.queued += 1;
        let queue = self.queue_for(state, &bio);
        self.arrive(state, queue, id);
    }

    fn dispatch(&mut self, state: &mut QueueState, _hardware_queue: usize) {
        if let Some(id) = self.choose(state) {
            self.queued -= 1;
            state.dispatch_append(id);
        }
    }

    fn complete(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        let queue = state.requests[id].queue;
        self.release_tag(state, &bio);
        let thin = self.slot.is_some_and(|slot| {
            let served = self.queue(slot.queue);
            served.short_think && served.fifo.len() + (served.in_device as usize) < 3
        });
        self.queueing.completed(self.in_device, self.queued, thin);
        if self.rate.completed(state.now) {
            self.tune_max_budget(state);
        }
        self.in_device -= 1;
        self.queues[queue as usize].in_device -= 1;
        self.queues[queue as usize].last_completion = Some(state.now);
        self.note_emptied(state, queue);
        self.continue_slot(state, queue);
    }

    fn next_timer(&self, _state: &QueueState) -> Option<Nanos> {
        self.slot.and_then(|slot| slot.timer)
    }

    fn run_timer(&mut self, state: &mut QueueState) {
        self.end_idling(state);
    }

    fn exit_process(&mut self, _state: &mut QueueState, process: ProcessId) {
        self.forget_process(process);
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
        TUNABLES.write(state.settings.hz, &mut self.values, name, text)?;
        self.apply(state, name);
        Ok(())
    }
}
