//! CFQ of Linux 4.14 and later, for one group (specification, section 4).
//!
//! Each process has a queue, and each queue the device for a slice of time. The device idles
//! for the queue's next request if the process is expected to submit it soon.

mod completion;
mod dispatch;
pub(crate) mod lookup;
pub(crate) mod queue;
mod trees;
mod values;
mod workload;

use crate::averages::Average;
use crate::choice::HeadRule;
use crate::clock::{Nanos, SECOND};
use crate::request::{Bio, PriorityClass, ProcessId, RequestId};
use crate::scheduler::Scheduler;
use crate::state::QueueState;
use crate::tunables::{TunableError, TunableInfo};
use completion::CommandQueueing;
use lookup::QueueLookup;
use queue::Queue;
use trees::Trees;
use values::{TUNABLES, Values};
use workload::Workload;

/// One second, as far as keys move to the front.
const KEY_SECOND: i64 = 1_000_000_000;

/// Distance in sectors within which a request is close.
const CLOSE: u64 = 8192;

/// State of CFQ.
#[derive(Debug)]
pub struct Cfq {
    values: Values,
    queues: Vec<Queue>,
    lookup: QueueLookup,
    trees: Trees,
    workload: Workload,
    active: Option<u32>,
    timer: Option<i64>,
    /// End of the request that the driver took last.
    last_position: u64,
    queued: i64,
    in_driver: i64,
    /// Dispatched and not completed: async and sync requests.
    in_flight: [i64; 2],
    group_think: Average,
    group_last_completion: i64,
    last_delayed_sync: i64,
    command_queueing: CommandQueueing,
}

/// The time of a call as a signed number, because keys may be before the start.
fn now(state: &QueueState) -> i64 {
    signed(state.now)
}

fn signed(time: Nanos) -> i64 {
    i64::try_from(time).expect("below 292 years")
}

impl Cfq {
    /// The scheduler for an empty queue.
    #[must_use]
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        let now = now(state);
        let mut trees = Trees::default();
        for tree in &mut trees.0 {
            tree.last_completion = now;
        }
        Box::new(Self {
            values: Values::new(state.settings.rotational),
            queues: Vec::new(),
            lookup: QueueLookup::default(),
            trees,
            workload: Workload::default(),
            active: None,
            timer: None,
            last_position: 0,
            queued: 0,
            in_driver: 0,
            in_flight: [0; 2],
            group_think: Average::default(),
            group_last_completion: now,
            last_delayed_sync: now - KEY_SECOND,
            command_queueing: CommandQueueing::default(),
        })
    }

    fn queue(&self, index: u32) -> &Queue {
        &self.queues[index as usize]
    }

    fn queue_mut(&mut self, index: u32) -> &mut Queue {
        &mut self.queues[index as usize]
    }

    const fn rule(&self, head: u64) -> HeadRule {
        HeadRule {
            head,
            back_limit: self.values.back_seek_max.unsigned_abs(),
            back_penalty: self.values.back_seek_penalty.unsigned_abs(),
        }
    }

    fn create_queue(&mut self, bio: &Bio, now: i64) -> u32 {
        let index = u32::try_from(self.queues.len()).expect("fewer than 2^32 queues");
        self.queues
            .push(Queue::new(bio.is_sync(), bio.priority, now));
        self.lookup.insert(bio, index);
        index
    }

    /// Add a queue to its tree with a normal key, or move it there (section 4.3).
    fn place(&mut self, index: u32, now: i64) {
        const IDLE_DELAY: i64 = 200_000_000;
        let busy = self.trees.busy();
        self.leave_tree(index);
        let top = self.values.base_slice(true, 0);
        let queue = &mut self.queues[index as usize];
        let tree = trees::index(queue.priority.class, queue.kind());
        let key = if queue.priority.class == PriorityClass::Idle {
            self.trees.0[tree].last_key().unwrap_or(now) + IDLE_DELAY
        } else {
            let slice = self.values.base_slice(queue.sync, queue.priority.level);
            now + (busy - 1) * (top - slice) - std::mem::take(&mut queue.residual)
        };
        queue.tree = Some(tree);
        self.trees.0[tree].insert(key, index);
    }

    /// Move a queue to the front of its tree.
    fn place_in_front(&mut self, index: u32, now: i64) {
        let queue = self.queue(index);
        let tree = trees::index(queue.priority.class, queue.kind());
        let first = self.trees.0[tree].first().map_or(now, |(key, _)| key);
        self.leave_tree(index);
        self.trees.0[tree].insert(first - KEY_SECOND, index);
        self.queue_mut(index).tree = Some(tree);
    }

    fn leave_tree(&mut self, index: u32) {
        if let Some(tree) = self.queue_mut(index).tree.take() {
            self.trees.0[tree].remove(index);
        }
    }

    /// Add the think times of a sync queue, its tree and the group.
    fn update_think_times(&mut self, index: u32, now: i64) {
        let queue = &mut self.queues[index as usize];
        if !queue.sync {
            return;
        }
        let limit = 2 * self.values.slice_idle;
        let time = |last: i64, limit: i64| (now - last).min(limit).max(0).unsigned_abs();
        queue
            .think
            .add_think_time(time(queue.last_completion, limit));
        if let Some(tree) = queue.tree {
            let tree = &mut self.trees.0[tree];
            tree.think.add_think_time(time(tree.last_completion, limit));
        }
        let group_limit = 2 * self.values.group_idle;
        self.group_think
            .add_think_time(time(self.group_last_completion, group_limit));
    }

    /// Whether request `bio` of queue `index` preempts the active queue (section 4.8).
    fn preempts(&self, index: u32, bio: &Bio, now: i64, state: &QueueState) -> bool {
        let Some(active_index) = self.active else {
            return false;
        };
        let (new, active) = (self.queue(index), self.queue(active_index));
        let real_time = |queue: &Queue| queue.priority.class == PriorityClass::RealTime;
        if new.idle_class() || active.idle_class() {
            return !new.idle_class();
        }
        if real_time(active) && !real_time(new) {
            return false;
        }
        let idle = self.should_idle(active_index, state);
        let metadata_waits = || {
            active
                .next
                .is_some_and(|id| state.requests[id].bio.metadata)
        };
        (bio.is_sync() && !active.sync && !active.must_dispatch)
            || active.slice_used(now)
            || (real_time(new) && !real_time(active))
            || (self.workload.is_no_idle()
                && new.kind() == queue::TreeKind::SyncNoIdle
                && active.is_empty())
            || (bio.metadata && !metadata_waits())
            || (active.is_empty() && !idle)
            || (active.waiting && bio.start.abs_diff(self.last_position) <= CLOSE)
    }

    fn preempt(&mut self, index: u32, now: i64) {
        let Some(active) = self.active else {
            return;
        };
        if self.queue(active).kind() != self.queue(index).kind() {
            self.workload.forget();
        }
        self.expire(active, true, now);
        self.place_in_front(index, now);
        self.queue_mut(index).new_slice = true;
    }
}

impl Scheduler for Cfq {
    fn name(&self) -> &'static str {
        "cfq"
    }

    /// The process for which the device waits may exceed the limit of its pool by half.
    fn may_allocate(&self, state: &QueueState, bio: &Bio) -> bool {
        let limit = state.settings.nr_requests;
        let waits = self.active.filter(|&active| self.queue(active).waiting);
        let must_queue = waits.is_some() && waits == self.lookup.find(bio);
        let extra = if must_queue { limit / 2 } else { 0 };
        state.allocated(0, bio.is_sync()) < limit + extra
    }

    fn front_merge(&self, _state: &QueueState, bio: &Bio) -> Option<RequestId> {
        self.queue(self.lookup.find(bio)?).sorted.find(bio.end())
    }

    fn permits_merge(&self, state: &QueueState, request: RequestId, bio: &Bio) -> bool {
        let same_queue = self.lookup.find(bio) == Some(state.requests[request].queue);
        same_queue && bio.is_sync() == state.requests[request].bio.is_sync()
    }

    fn front_merged(&mut self, state: &mut QueueState, request: RequestId, old_start: u64) {
        let start = state.requests[request].bio.start;
        let sorted = &mut self.queue_mut(state.requests[request].queue).sorted;
        sorted.remove(old_start, request);
        sorted.insert(start, request);
    }

    fn previous_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        let entry = &state.requests[request];
        let sorted = &self.queue(entry.queue).sorted;
        sorted.previous(entry.bio.start, request)
    }

    fn next_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        let entry = &state.requests[request];
        self.queue(entry.queue)
            .sorted
            .next(entry.bio.start, request)
    }

    fn joined(&mut self, state: &mut QueueState, survivor: RequestId, absorbed: RequestId) {
        let start = state.requests[absorbed].bio.start;
        let rule = self.rule(start);
        let queue = self.queue_mut(state.requests[absorbed].queue);
        if queue.next == Some(absorbed) {
            queue.next = queue.successor(&rule, state, absorbed);
        }
        queue.sorted.remove(start, absorbed);
        queue.fifo.join(&mut state.requests, survivor, absorbed);
        self.queued -= 1;
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let now = now(state);
        let bio = state.requests[id].bio;
        let index = self
            .lookup
            .find(&bio)
            .unwrap_or_else(|| self.create_queue(&bio, now));
        state.requests[id].queue = index;
        state.requests[id].deadline =
            state.now + self.values.fifo_expire(bio.is_sync()).unsigned_abs();
        self.queued += 1;
        let rule = self.rule(self.last_position);
        let queue = &mut self.queues[index as usize];
        queue.fifo.push(&mut state.requests, id);
        queue.sorted.insert(bio.start, id);
        queue.next = Queue::choose(&rule, state, queue.next, Some(id));
        if queue.tree.is_none() {
            queue.priority = bio.priority;
            self.place(index, now);
        }
        self.update_think_times(index, now);
        let slice_idle = self.values.slice_idle;
        let queue = self.queue_mut(index);
        queue.update_seeks(&bio, state.settings.rotational);
        queue.update_idle_window(&bio, slice_idle);
        if self.active == Some(index) {
            if self.queue(index).waiting {
                self.end_wait(index, &bio);
            }
        } else if self.preempts(index, &bio, now, state) {
            self.preempt(index, now);
        }
    }

    fn dispatch(&mut self, state: &mut QueueState, _hardware_queue: usize) {
        if let Some(index) = self.select(state) {
            self.dispatch_from(index, state);
        }
    }

    fn activate(&mut self, state: &mut QueueState, id: RequestId) {
        self.in_driver += 1;
        self.last_position = state.requests[id].bio.end();
    }

    fn complete(&mut self, state: &mut QueueState, id: RequestId) {
        self.complete_request(state, id);
    }

    fn next_timer(&self, _state: &QueueState) -> Option<Nanos> {
        self.timer.map(i64::unsigned_abs)
    }

    fn run_timer(&mut self, state: &mut QueueState) {
        self.timer = None;
        self.idle_timeout(now(state));
    }

    fn exit_process(&mut self, _state: &mut QueueState, process: ProcessId) {
        if let Some(queue) = self.lookup.find(&Bio::read(process, 0, 0)) {
            self.queue_mut(queue).exited = true;
        }
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

const _: () = assert!(KEY_SECOND.unsigned_abs() == SECOND);
