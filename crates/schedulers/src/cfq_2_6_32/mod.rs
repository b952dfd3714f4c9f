//! CFQ of Linux 2.6.32 (specification, section 4.12, where it differs from section 4).
//!
//! One tree of queues, slices in jiffies, and idling for random readers too.

mod service;
mod values;

use crate::averages::{Average, limit_seek};
use crate::cfq::lookup::QueueLookup;
use crate::cfq::queue::Queue;
use crate::choice::HeadRule;
use crate::clock::{Hz, Nanos};
use crate::request::{Bio, PriorityClass, ProcessId, RequestId};
use crate::scheduler::Scheduler;
use crate::state::QueueState;
use crate::tunables::{TunableError, TunableInfo};
use service::CommandQueueing;
use values::{TUNABLES, Values};

/// Distance in sectors of a seek, and of a request that is not close.
const SEEK: u64 = 8192;

/// A queue with its seek distances.
#[derive(Debug)]
struct Entry {
    queue: Queue,
    seek: Average,
    last_end: Option<u64>,
}

impl Entry {
    const fn seeky(&self) -> bool {
        self.seek.mean > SEEK
    }

    fn update_seeks(&mut self, bio: &Bio) {
        let distance = self.last_end.map_or(0, |end| end.abs_diff(bio.start));
        self.seek.add_seek(limit_seek(&self.seek, distance));
        self.last_end = Some(bio.end());
    }

    /// Distance within which a request is close.
    const fn close_distance(&self) -> u64 {
        if self.seek.valid() {
            self.seek.mean
        } else {
            SEEK
        }
    }
}

/// State of CFQ.
#[derive(Debug)]
pub struct Cfq2632 {
    values: Values,
    hz: Hz,
    queues: Vec<Entry>,
    lookup: QueueLookup,
    /// Queues with requests by class and key, of equal ones the oldest first.
    tree: Vec<(PriorityClass, i64, u32)>,
    active: Option<u32>,
    /// Jiffy of the idle timer.
    timer: Option<i64>,
    last_position: u64,
    queued: i64,
    in_driver: [i64; 2],
    in_flight: [i64; 2],
    last_sync: i64,
    command_queueing: CommandQueueing,
}

/// The jiffy of a call as a signed number, because keys may be before the start.
fn now(state: &QueueState) -> i64 {
    i64::try_from(state.jiffy()).expect("below 2^63")
}

impl Cfq2632 {
    /// The scheduler for an empty queue.
    #[must_use]
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        Box::new(Self {
            values: Values::new(state.settings.hz),
            hz: state.settings.hz,
            queues: Vec::new(),
            lookup: QueueLookup::default(),
            tree: Vec::new(),
            active: None,
            timer: None,
            last_position: 0,
            queued: 0,
            in_driver: [0; 2],
            in_flight: [0; 2],
            last_sync: now(state),
            command_queueing: CommandQueueing::default(),
        })
    }

    fn entry(&self, index: u32) -> &Entry {
        &self.queues[index as usize]
    }

    fn queue(&self, index: u32) -> &Queue {
        &self.entry(index).queue
    }

    fn queue_mut(&mut self, index: u32) -> &mut Queue {
        &mut self.queues[index as usize].queue
    }

    const fn rule(&self) -> HeadRule {
        HeadRule {
            head: self.last_position,
            back_limit: self.values.back_seek_max.unsigned_abs(),
            back_penalty: self.values.back_seek_penalty.unsigned_abs(),
        }
    }

    fn busy(&self) -> i64 {
        i64::try_from(self.tree.len()).expect("a small number")
    }

    fn seconds(&self, divisor: u32) -> i64 {
        i64::try_from(self.hz.over(divisor)).expect("a small number")
    }

    fn create_queue(&mut self, bio: &Bio, now: i64) -> u32 {
        let index = u32::try_from(self.queues.len()).expect("fewer than 2^32 queues");
        self.queues.push(Entry {
            queue: Queue::new(bio.is_sync(), bio.priority, now),
            seek: Average::default(),
            last_end: None,
        });
        self.lookup.insert(bio, index);
        index
    }

    fn insert_in_tree(&mut self, key: i64, index: u32) {
        let class = self.queue(index).priority.class;
        let place = self
            .tree
            .partition_point(|&(other, other_key, _)| (other, other_key) <= (class, key));
        self.tree.insert(place, (class, key, index));
        self.queue_mut(index).tree = Some(0);
    }

    fn leave_tree(&mut self, index: u32) {
        if self.queue_mut(index).tree.take().is_some() {
            self.tree.retain(|&(_, _, other)| other != index);
        }
    }

    /// Add a queue with a normal key, or move it there. It counts itself as busy.
    fn place(&mut self, index: u32, now: i64) {
        self.leave_tree(index);
        let others = self.busy();
        let last = self.tree.last().map_or(now, |&(_, key, _)| key);
        let values = self.values;
        let delay = self.seconds(5);
        let queue = self.queue_mut(index);
        let key = if queue.idle_class() {
            last + delay
        } else {
            let slice = values.slice(queue.sync, queue.priority.level);
            now + others * (values.slice(true, 0) - slice) - std::mem::take(&mut queue.residual)
        };
        self.insert_in_tree(key, index);
    }

    fn place_in_front(&mut self, index: u32, now: i64) {
        let class = self.queue(index).priority.class;
        let first = self.tree.iter().find(|&&(other, _, _)| other == class);
        let key = first.map_or(now, |&(_, key, _)| key) - self.seconds(1);
        self.leave_tree(index);
        self.insert_in_tree(key, index);
    }

    fn update_think_time(&mut self, index: u32, now: i64) {
        let limit = 2 * self.values.slice_idle;
        let queue = self.queue_mut(index);
        if queue.sync {
            let time = (now - queue.last_completion).clamp(0, limit);
            queue.think.add_think_time(time.unsigned_abs());
        }
    }

    /// The longest wait for a queue: 2 ms if it is known to seek.
    fn idle_time(&self, index: u32) -> i64 {
        let entry = self.entry(index);
        if entry.seek.valid() && entry.seeky() {
            let short = i64::try_from(self.hz.from_ms(2)).expect("a small number");
            self.values.slice_idle.min(short)
        } else {
            self.values.slice_idle
        }
    }

    fn update_idle_window(&mut self, index: u32) {
        let idle = self.idle_time(index);
        let slice_idle = self.values.slice_idle;
        let no_seeks = self.values.low_latency == 0 && self.command_queueing.assumed();
        let entry = &mut self.queues[index as usize];
        let seeky = entry.seeky();
        let queue = &mut entry.queue;
        if !queue.sync || queue.idle_class() {
            return;
        }
        if queue.exited || slice_idle == 0 || (no_seeks && seeky) {
            queue.idle_window = false;
        } else if queue.think.valid() {
            queue.idle_window = !queue.thinks_longer(idle);
        }
    }

    fn preempts(&self, index: u32, bio: &Bio, now: i64, state: &QueueState) -> bool {
        let Some(active_index) = self.active else {
            return false;
        };
        let (new, active) = (self.queue(index), self.queue(active_index));
        let real_time = |queue: &Queue| queue.priority.class == PriorityClass::RealTime;
        if active.slice_used(now) {
            return true;
        }
        if new.idle_class() || active.idle_class() {
            return !new.idle_class();
        }
        if real_time(active) && !real_time(new) {
            return false;
        }
        let metadata_waits = active
            .next
            .is_some_and(|id| state.requests[id].bio.metadata);
        let distance = self.entry(active_index).close_distance();
        (bio.is_sync() && !active.sync && !active.must_dispatch)
            || (bio.metadata && !metadata_waits)
            || (real_time(new) && !real_time(active))
            || (active.waiting && bio.start.abs_diff(self.last_position) <= distance)
    }
}

impl Scheduler for Cfq2632 {
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
        let rule = self.rule();
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
        let expire = if bio.is_sync() {
            self.values.fifo_expire_sync
        } else {
            self.values.fifo_expire_async
        };
        state.requests[id].queue = index;
        state.requests[id].deadline = state.jiffy() + expire.unsigned_abs();
        if let Some(alias) = self.queue(index).sorted.find(bio.start) {
            self.take(index, alias, state);
        }
        self.queued += 1;
        let rule = self.rule();
        let queue = self.queue_mut(index);
        queue.fifo.push(&mut state.requests, id);
        queue.sorted.insert(bio.start, id);
        queue.next = Queue::choose(&rule, state, queue.next, Some(id));
        if queue.tree.is_none() {
            queue.priority = bio.priority;
            self.place(index, now);
        }
        self.update_think_time(index, now);
        self.queues[index as usize].update_seeks(&bio);
        self.update_idle_window(index);
        if self.active == Some(index) {
            if self.queue(index).waiting {
                self.end_wait(index, &bio);
            }
        } else if self.preempts(index, &bio, now, state) {
            if let Some(active) = self.active {
                self.expire(active, true, now);
            }
            self.place_in_front(index, now);
            self.queue_mut(index).new_slice = true;
        }
    }

    fn dispatch(&mut self, state: &mut QueueState, _hardware_queue: usize) {
        if let Some(index) = self.select(state) {
            self.dispatch_from(index, state);
        }
    }

    fn activate(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        self.in_driver[usize::from(bio.is_sync())] += 1;
        self.last_position = bio.end();
    }

    fn complete(&mut self, state: &mut QueueState, id: RequestId) {
        self.complete_request(state, id);
    }

    fn next_timer(&self, state: &QueueState) -> Option<Nanos> {
        let jiffy = self.timer?.unsigned_abs();
        Some(state.settings.hz.tick(jiffy))
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
