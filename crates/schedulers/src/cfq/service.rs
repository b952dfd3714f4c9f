//! Choice of the queue to serve, lengths of slices, and dispatch (specification, sections 4.2,
//! 4.5, 4.6 and 4.12).

use super::queue::{self, Queue, TreeKind, thinks_longer};
use super::state::{Cfq, Release, signed};
use super::values::Values;
use crate::clock::SECOND;
use crate::request::{PriorityClass, RequestId};
use crate::state::QueueState;

/// What becomes of the active queue.
enum Keep {
    Serve,
    Wait,
    Expire,
}

impl Cfq {
    /// The queue to serve, or none to keep the device idle.
    pub(super) fn select(&mut self, state: &QueueState) -> Option<u32> {
        if self.queued == 0 {
            return None;
        }
        let now = self.now(state);
        if let Some(active) = self.active {
            let keep = match self.release {
                Release::V2_6_32 => self.keep_active_in_2_6_32(active, now),
                Release::V4_14 => self.keep_active(active, state),
            };
            match keep {
                Keep::Serve => return Some(active),
                Keep::Wait => return None,
                Keep::Expire => self.expire(active, false, now),
            }
        }
        let tree = match self.release {
            Release::V2_6_32 => self.trees.0.iter().position(|tree| !tree.is_empty())?,
            Release::V4_14 => self.choose_tree(state)?,
        };
        let (_, index) = self.trees.0[tree].first()?;
        self.timer = None;
        self.queue_mut(index).begin_slice();
        self.active = Some(index);
        Some(index)
    }

    fn keep_active_in_2_6_32(&self, active: u32, now: i64) -> Keep {
        let queue = self.queue(active);
        if queue.slice_used(now) && !queue.must_dispatch {
            Keep::Expire
        } else if !queue.is_empty() {
            Keep::Serve
        } else if self.timer.is_some() || (queue.dispatched > 0 && queue.idle_window) {
            Keep::Wait
        } else {
            Keep::Expire
        }
    }

    fn keep_active(&mut self, active: u32, state: &QueueState) -> Keep {
        let now = self.now(state);
        let idle = self.should_idle(active, state);
        let only = self.trees.busy() == 1;
        let timer = self.timer.is_some();
        let queue = self.queue_mut(active);
        let in_device = queue.dispatched > 0;
        if queue.wait_busy && !queue.is_empty() {
            return Keep::Expire;
        }
        if queue.slice_used(now) && !queue.must_dispatch {
            if only && queue.is_empty() && in_device && idle {
                return Keep::Wait;
            }
        } else if !queue.is_empty() {
            return Keep::Serve;
        } else if timer {
            return Keep::Wait;
        } else {
            let long = queue.new_slice || queue.slice_end - now > now - queue.slice_start;
            if queue.seeky() && queue.idle_window && long {
                queue.deep = false;
                queue.idle_window = false;
            }
            if in_device && self.should_idle(active, state) {
                return Keep::Wait;
            }
        }
        let group_idle = self.values.group_idle;
        let in_flight = self.in_flight[0] + self.in_flight[1] > 0;
        if group_idle > 0 && only && in_flight && !thinks_longer(&self.group_think, group_idle) {
            return Keep::Wait;
        }
        Keep::Expire
    }

    /// Whether the device should wait for the next request of queue `index` (section 4.7).
    pub(super) fn should_idle(&self, index: u32, state: &QueueState) -> bool {
        let queue = self.queue(index);
        let slice_idle = self.values.slice_idle;
        if slice_idle == 0 || queue.idle_class() {
            return false;
        }
        if queue.idle_window && (state.settings.rotational || !self.command_queueing.assumed()) {
            return true;
        }
        let tree = queue.tree.map(|tree| &self.trees.0[tree]);
        queue.sync
            && tree.is_some_and(|tree| tree.len() == 1 && !thinks_longer(&tree.think, slice_idle))
    }

    /// The tree to serve, with the time of its workload.
    fn choose_tree(&mut self, state: &QueueState) -> Option<usize> {
        let now = self.now(state);
        let classes = [
            PriorityClass::RealTime,
            PriorityClass::BestEffort,
            PriorityClass::Idle,
        ];
        let class = classes
            .into_iter()
            .find(|&class| self.trees.of_class(class) > 0)?;
        let jiffy = signed(SECOND / state.settings.hz.seconds(1));
        if let Some(tree) = self.workload.tree
            && self.workload.class == Some(class)
            && class != PriorityClass::Idle
            && !self.trees.0[tree].is_empty()
            && now <= self.workload.end
        {
            return Some(tree);
        }
        let tree = self.trees.lowest(class)?;
        let length = if class == PriorityClass::Idle {
            jiffy
        } else {
            self.workload_length(class, tree).max(2 * jiffy)
        };
        self.workload.tree = Some(tree);
        self.workload.class = Some(class);
        self.workload.end = now + length;
        Some(tree)
    }

    fn workload_length(&self, class: PriorityClass, tree: usize) -> i64 {
        let target = self.values.target_latency;
        let queues = i64::try_from(self.trees.0[tree].len()).expect("a small number");
        let average = self.workload.average_queues[class as usize];
        let all = self.trees.of_class(class).max(average).max(1);
        let length = target * queues / all;
        if tree == queue::index(class, TreeKind::Async) {
            let share = target * self.trees.busy_async() / self.trees.busy();
            scale(
                length.min(share),
                self.values.slice_async,
                self.values.slice_sync,
            )
        } else {
            length.max(2 * self.values.slice_idle)
        }
    }

    /// Length of a new slice of queue `index`.
    pub(super) fn slice(&mut self, index: u32) -> i64 {
        let queue = &self.queues[index as usize];
        let slice = self.values.base_slice(queue.sync, queue.priority.level);
        if self.is_2_6_32() || self.values.low_latency == 0 {
            return slice;
        }
        let class = queue.priority.class;
        let busy = self.trees.of_class(class);
        let average = &mut self.workload.average_queues[class as usize];
        *average = (3 * busy.max(*average) + busy.min(*average) + 2) / 4;
        let Values {
            slice_sync,
            slice_idle,
            target_latency,
            ..
        } = self.values;
        let round = slice_sync * *average;
        if round <= target_latency {
            return slice;
        }
        let low = slice.min(scale(slice, 2 * slice_idle, slice_sync));
        scale(slice, target_latency, round).max(low)
    }

    /// Dispatch one request of queue `index`, unless its limits forbid it.
    pub(super) fn dispatch_from(&mut self, index: u32, state: &mut QueueState) {
        let now = self.now(state);
        if self.is_2_6_32() && !self.may_dispatch(index, state) {
            return;
        }
        let expired = self.expired_head(index, state);
        if !self.is_2_6_32() && !self.may_dispatch(index, state) {
            return;
        }
        let requests = &self.queue(index).requests;
        let Some(id) = expired.or(requests.next).or(requests.fifo.head()) else {
            return;
        };
        let other_busy = self.trees.busy() > 1;
        self.take(index, id, state);
        let quota = 2 * self.values.slice_async_rq;
        let queue = self.queue_mut(index);
        queue.slice_dispatched += 1;
        queue.must_dispatch = false;
        let level = i64::from(queue.priority.level);
        let used = !queue.sync && queue.slice_dispatched >= quota * (8 - level);
        if other_busy && (used || queue.idle_class()) {
            queue.slice_end = now;
            self.expire(index, false, now);
        }
    }

    /// Move `id` to the dispatch list. In 2.6.32 an empty queue leaves its tree.
    pub(super) fn take(&mut self, index: u32, id: RequestId, state: &mut QueueState) {
        let bio = state.requests[id].bio;
        let rule = self.successor_rule(bio.start);
        let queue = self.queue_mut(index);
        let requests = &mut queue.requests;
        requests.next = requests.successor(&rule, &state.requests, id);
        requests.remove(&mut state.requests, id);
        queue.dispatched += 1;
        let is_empty = queue.is_empty();
        self.queued -= 1;
        self.in_flight[usize::from(bio.is_sync())] += 1;
        if is_empty && self.is_2_6_32() {
            self.leave_tree(index);
        }
        state.dispatch_sorted(id);
    }

    /// The oldest request if it has expired; looks once per slice.
    fn expired_head(&mut self, index: u32, state: &QueueState) -> Option<RequestId> {
        let now = self.now(state).unsigned_abs();
        let queue = self.queue_mut(index);
        if std::mem::replace(&mut queue.fifo_checked, true) {
            return None;
        }
        let head = queue.requests.fifo.head()?;
        let expired = state.requests[head].deadline <= now;
        queue.must_dispatch |= expired;
        expired.then_some(head)
    }

    fn may_dispatch(&self, index: u32, state: &QueueState) -> bool {
        let queue = self.queue(index);
        let drains = match self.release {
            Release::V2_6_32 => queue.idle_window && self.in_driver[0] > 0,
            Release::V4_14 if queue.must_dispatch => return true,
            Release::V4_14 => self.in_flight[0] > 0 && self.should_idle(index, state),
        };
        if drains || (self.in_flight[1] > 0 && !queue.sync) {
            return false;
        }
        queue.dispatched < self.depth_limit(queue, self.now(state))
    }

    /// Requests that a queue may have in the device.
    fn depth_limit(&self, queue: &Queue, now: i64) -> i64 {
        let quantum = self.values.quantum;
        let mut limit = match self.release {
            _ if queue.idle_class() => 1,
            Release::V2_6_32 => quantum,
            Release::V4_14 => (quantum / 2).max(1),
        };
        if queue.dispatched >= limit {
            limit = self.extended_limit(queue, now);
        }
        if queue.sync || self.values.low_latency == 0 {
            return limit;
        }
        let depth = (now - self.last_sync) / self.values.slice_sync;
        limit.min(depth.max(i64::from(queue.dispatched == 0)))
    }

    /// The limit of a queue that has reached the first one.
    fn extended_limit(&self, queue: &Queue, now: i64) -> i64 {
        let (busy, quantum) = (self.trees.busy(), self.values.quantum);
        if queue.idle_class() {
            return 0;
        }
        if self.is_2_6_32() {
            return if busy > 1 { 0 } else { 4 * quantum };
        }
        let only_sync = queue.sync && self.trees.busy_sync() == 1;
        let nearly_used =
            queue.new_slice || now + self.values.slice_idle * queue.dispatched > queue.slice_end;
        if busy == 1 || only_sync {
            i64::MAX
        } else if nearly_used {
            0
        } else {
            quantum
        }
    }
}

/// `value * numerator / denominator` without overflow.
fn scale(value: i64, numerator: i64, denominator: i64) -> i64 {
    let scaled = i128::from(value) * i128::from(numerator) / i128::from(denominator);
    i64::try_from(scaled).unwrap_or(i64::MAX)
}
