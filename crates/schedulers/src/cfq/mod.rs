//! CFQ of Linux 4.14 and later, and of 2.6.32, for one group (specification, section 4).
//!
//! Each process has a queue, and each queue the device for a slice of time. The device idles
//! for the queue's next request if the process is expected to submit it soon.

mod completion;
mod queue;
mod service;
mod state;
mod values;

pub use self::state::Cfq;

use self::queue::{CLOSE, Queue, TreeKind};
use self::state::Release;
use self::values::{TUNABLES, TUNABLES_OF_2_6_32};
use crate::clock::Nanos;
use crate::request::{Bio, PriorityClass, RequestId};
use crate::request_set::RequestSet;
use crate::scheduler::Scheduler;
use crate::state::QueueState;
use crate::tunables::TunableError;

/// Requests waiting at once that make a queue deep.
const DEEP: usize = 4;

impl Cfq {
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

    /// Decide whether the device should idle for a queue (section 4.4, step 5).
    fn update_idle_window(&mut self, index: u32, bio: &Bio, state: &QueueState) {
        let slice_idle = self.values.slice_idle;
        let no_seeks = self.values.low_latency == 0 && self.command_queueing.assumed();
        let idle_time = self.idle_time(index, state);
        let is_2_6_32 = self.is_2_6_32();
        let queue = self.queue_mut(index);
        if !queue.sync || queue.idle_class() {
            return;
        }
        queue.deep |= queue.requests.fifo.len() >= DEEP;
        let (ends, limit) = if is_2_6_32 {
            (no_seeks && queue.seeky_by_mean(), idle_time)
        } else {
            let is_last = !bio.is_read() && bio.no_idle;
            (is_last || (queue.seeky() && !queue.deep), slice_idle)
        };
        if ends || slice_idle == 0 {
            queue.idle_window = false;
        } else if queue.think.valid() {
            queue.idle_window = !queue.thinks_longer(limit);
        }
    }

    /// A request of the active queue ends the wait for it. A small request of the only queue
    /// leaves the timer, which may then end the slice.
    fn end_wait(&mut self, index: u32, bio: &Bio) {
        const SMALL: u32 = 8;
        let ends = bio.sectors > SMALL || self.trees.busy() > 1;
        let must_dispatch = !ends || self.is_2_6_32();
        let queue = &mut self.queues[index as usize];
        queue.must_dispatch |= must_dispatch;
        if ends {
            queue.waiting = false;
            self.timer = None;
        }
    }

    /// Whether request `bio` of queue `index` preempts the active queue (section 4.8).
    fn preempts(&self, index: u32, bio: &Bio, now: i64, state: &QueueState) -> bool {
        let Some(active_index) = self.active else {
            return false;
        };
        let (new, active) = (self.queue(index), self.queue(active_index));
        let real_time = |queue: &Queue| queue.priority.class == PriorityClass::RealTime;
        if self.is_2_6_32() && active.slice_used(now) {
            return true;
        }
        if new.idle_class() || active.idle_class() {
            return !new.idle_class();
        }
        if real_time(active) && !real_time(new) {
            return false;
        }
        let next = active.requests.next;
        let metadata_waits = next.is_some_and(|id| state.requests[id].bio.metadata);
        let close = match self.release {
            Release::V2_6_32 => active.close_distance(),
            Release::V4_14 => CLOSE,
        };
        let not_worth_idling = || {
            let both_seek = self.workload.is_no_idle() && new.kind() == TreeKind::SyncNoIdle;
            active.is_empty() && (both_seek || !self.should_idle(active_index, state))
        };
        (bio.is_sync() && !active.sync && !active.must_dispatch)
            || active.slice_used(now)
            || (real_time(new) && !real_time(active))
            || (bio.metadata && !metadata_waits)
            || (active.waiting && bio.start.abs_diff(self.last_position) <= close)
            || (!self.is_2_6_32() && not_worth_idling())
    }

    fn preempt(&mut self, index: u32, now: i64) {
        let Some(active) = self.active else {
            return;
        };
        if self.queue(active).kind() != self.queue(index).kind() {
            self.workload.class = None;
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

    fn waits_for(&self, bio: &Bio) -> bool {
        let waits = self.active.filter(|&active| self.queue(active).waiting);
        waits.is_some() && waits == self.lookup.find(bio)
    }

    fn front_merge(&self, bio: &Bio) -> Option<RequestId> {
        let queue = self.queue(self.lookup.find(bio)?);
        queue.requests.sorted.find(bio.end())
    }

    fn permits_merge(&self, state: &QueueState, request: RequestId, bio: &Bio) -> bool {
        let same_queue = self.lookup.find(bio) == Some(state.requests[request].queue);
        same_queue && bio.is_sync() == state.requests[request].bio.is_sync()
    }

    fn set_of(&self, state: &QueueState, request: RequestId) -> Option<&RequestSet> {
        Some(&self.queue(state.requests[request].queue).requests)
    }

    fn set_of_mut(&mut self, state: &QueueState, request: RequestId) -> Option<&mut RequestSet> {
        Some(&mut self.queue_mut(state.requests[request].queue).requests)
    }

    fn joined(&mut self, state: &mut QueueState, survivor: RequestId, absorbed: RequestId) {
        let request = &state.requests[absorbed];
        let rule = self.successor_rule(request.bio.start);
        let set = &mut self.queues[request.queue as usize].requests;
        set.join(&mut state.requests, survivor, absorbed, |set, pool| {
            set.successor(&rule, pool, absorbed)
        });
        self.queued -= 1;
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let now = self.now(state);
        let bio = state.requests[id].bio;
        let index = self.queue_for(&bio, now);
        state.requests[id].queue = index;
        state.requests[id].deadline = now.unsigned_abs() + self.values.fifo_expire(bio.is_sync());
        if self.is_2_6_32()
            && let Some(alias) = self.queue(index).requests.sorted.find(bio.start)
        {
            self.take(index, alias, state);
        }
        self.queued += 1;
        let rule = self.rule(self.last_position);
        let queue = &mut self.queues[index as usize];
        queue.requests.insert(&mut state.requests, id);
        queue.requests.next = rule.choose(&state.requests, queue.requests.next, Some(id));
        if queue.tree.is_none() {
            queue.priority = bio.priority;
            self.place(index, now);
        }
        self.update_think_times(index, now);
        let rotational = state.settings.rotational;
        self.queue_mut(index).update_seeks(&bio, rotational);
        self.update_idle_window(index, &bio, state);
        if self.active == Some(index) {
            if self.queue(index).waiting {
                self.end_wait(index, &bio);
            }
        } else if self.preempts(index, &bio, now, state) {
            self.preempt(index, now);
        }
    }

    fn dispatch(&mut self, state: &mut QueueState) {
        if let Some(index) = self.select(state) {
            self.dispatch_from(index, state);
        }
    }

    fn activate(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = &state.requests[id].bio;
        self.in_driver[usize::from(bio.is_sync())] += 1;
        self.last_position = bio.end();
    }

    fn complete(&mut self, state: &mut QueueState, id: RequestId) {
        self.complete_request(state, id);
    }

    fn next_timer(&self, state: &QueueState) -> Option<Nanos> {
        let time = self.timer?.unsigned_abs();
        Some(match self.release {
            Release::V2_6_32 => state.settings.hz.tick(time),
            Release::V4_14 => time,
        })
    }

    fn run_timer(&mut self, state: &mut QueueState) {
        self.timer = None;
        self.idle_timeout(self.now(state));
    }

    fn tune(&mut self, state: &QueueState, name: &str, text: &str) -> Result<(), TunableError> {
        let table = match self.release {
            Release::V2_6_32 => TUNABLES_OF_2_6_32,
            Release::V4_14 => TUNABLES,
        };
        table.write(state.settings.hz, &mut self.values, name, text)
    }
}
