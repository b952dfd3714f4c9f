//! State of BFQ.

use super::budget::MaxBudget;
use super::busy::Busy;
use super::device::{CommandQueueing, PeakRate};
use super::queue::Queue;
use super::raising::Burst;
use super::service_tree::{QueueId, ServiceTree};
use super::tunables::Values;
use crate::clock::{Jiffies, MILLISECOND, Nanos};
use crate::request::{ASYNC_QUEUES, PriorityClass};
use crate::scheduler::Scheduler;
use crate::state::QueueState;

/// Queues of a process.
#[derive(Clone, Copy, Debug)]
pub struct ProcessQueues {
    /// Queue of its own.
    pub home: QueueId,
    /// Queue that its requests join.
    pub current: QueueId,
}

/// Service of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub queue: QueueId,
    pub timeout: Jiffies,
    /// End of idling for the queue's next request.
    pub timer: Option<Nanos>,
    pub selected: Nanos,
    pub idle_start: Nanos,
    pub fifo_checked: bool,
}

/// State of BFQ.
#[derive(Debug)]
pub struct Bfq {
    pub(super) values: Values,
    pub(super) queues: Vec<Queue>,
    pub(super) processes: Vec<Option<ProcessQueues>>,
    pub(super) async_queues: [Option<QueueId>; ASYNC_QUEUES],
    pub(super) trees: [ServiceTree; 3],
    pub(super) slot: Option<Slot>,
    pub(super) busy: Busy,
    pub(super) burst: Burst,
    pub(super) rate: PeakRate,
    pub(super) queueing: CommandQueueing,
    pub(super) max_budget: MaxBudget,
    pub(super) idle_considered: Nanos,
    /// End of the last dispatched request.
    pub(super) last_position: u64,
    pub(super) in_device: u32,
    pub(super) queued: u32,
    /// Allocated sync writes.
    pub(super) sync_writes: u32,
}

impl Bfq {
    /// The scheduler for an empty queue.
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        let settings = &state.settings;
        Box::new(Self {
            values: Values::new(settings.hz),
            queues: Vec::new(),
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
            sync_writes: 0,
        })
    }

    pub(super) fn queue(&self, id: QueueId) -> &Queue {
        &self.queues[id as usize]
    }

    pub(super) fn is_idle_class(&self, id: QueueId) -> bool {
        self.queue(id).priority.class == PriorityClass::Idle
    }

    /// Count `id` as busy with its current weight, or no longer.
    pub(super) fn recount(&mut self, id: QueueId) {
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
    pub(super) fn tune_max_budget(&mut self, state: &QueueState) {
        if self.values.max_budget == 0 {
            let ms = state
                .settings
                .hz
                .to_ms(self.values.timeout_sync.unsigned_abs());
            self.max_budget.sectors = self.rate.sectors_in(ms * MILLISECOND).max(1);
        }
    }
}
