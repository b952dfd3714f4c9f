//! Choice of the queue to serve, and dispatch from it (specification, sections 4.5 and 4.6).

use super::Cfq;
use super::queue::{Queue, thinks_longer};
use crate::request::RequestId;
use crate::state::QueueState;

impl Cfq {
    /// The queue to serve, or none to keep the device idle.
    pub(super) fn select(&mut self, state: &QueueState) -> Option<u32> {
        if self.queued == 0 {
            return None;
        }
        let now = super::now(state);
        if let Some(active) = self.active {
            match self.keep_active(active, state) {
                Keep::Serve => return Some(active),
                Keep::Wait => return None,
                Keep::Expire => self.expire(active, false, now),
            }
        }
        let tree = self.choose_tree(state)?;
        let (_, index) = self.trees.0[tree].first()?;
        self.timer = None;
        self.queue_mut(index).begin_slice();
        self.active = Some(index);
        Some(index)
    }

    fn keep_active(&mut self, active: u32, state: &QueueState) -> Keep {
        let now = super::now(state);
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

    /// Dispatch one request of queue `index`, unless its limits forbid it.
    pub(super) fn dispatch_from(&mut self, index: u32, state: &mut QueueState) {
        let now = super::now(state);
        let expired = self.expired_head(index, state);
        if !self.may_dispatch(index, state) {
            return;
        }
        let queue = self.queue(index);
        let Some(id) = expired.or(queue.next).or(queue.fifo.head()) else {
            return;
        };
        self.take(index, id, state);
        let other_busy = self.trees.busy() > 1;
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

    fn take(&mut self, index: u32, id: RequestId, state: &mut QueueState) {
        let bio = state.requests[id].bio;
        let rule = self.rule(bio.start);
        let queue = self.queue_mut(index);
        queue.next = queue.successor(&rule, state, id);
        queue.remove(state, id);
        queue.dispatched += 1;
        self.queued -= 1;
        self.in_flight[usize::from(bio.is_sync())] += 1;
        state.dispatch_sorted(id);
    }

    /// The oldest request if it has expired; looks once per slice.
    fn expired_head(&mut self, index: u32, state: &QueueState) -> Option<RequestId> {
        let queue = self.queue_mut(index);
        if std::mem::replace(&mut queue.fifo_checked, true) {
            return None;
        }
        let head = queue.fifo.head()?;
        let expired = state.requests[head].deadline <= state.now;
        queue.must_dispatch |= expired;
        expired.then_some(head)
    }

    fn may_dispatch(&self, index: u32, state: &QueueState) -> bool {
        let queue = self.queue(index);
        if queue.must_dispatch {
            return true;
        }
        let [asynchronous, sync] = self.in_flight;
        if (asynchronous > 0 && self.should_idle(index, state)) || (sync > 0 && !queue.sync) {
            return false;
        }
        let limit = self.depth_limit(queue, super::now(state));
        limit.is_none_or(|limit| queue.dispatched < limit)
    }

    /// Requests that a queue may have in the device, or none without limit.
    fn depth_limit(&self, queue: &Queue, now: i64) -> Option<i64> {
        let mut limit = Some((self.values.quantum / 2).max(1));
        if queue.idle_class() {
            limit = Some(1);
        }
        if limit.is_some_and(|limit| queue.dispatched >= limit) {
            let busy = self.trees.busy();
            let only_sync = queue.sync && self.trees.busy_sync() == 1;
            let nearly_used = queue.new_slice
                || now + self.values.slice_idle * queue.dispatched > queue.slice_end;
            if queue.idle_class() || (busy > 1 && nearly_used && !only_sync) {
                return Some(0);
            }
            let unlimited = busy == 1 || only_sync;
            limit = (!unlimited).then_some(self.values.quantum);
        }
        if queue.sync || self.values.low_latency == 0 {
            return limit;
        }
        let depth = (now - self.last_delayed_sync) / self.values.slice_sync;
        let depth = depth.max(i64::from(queue.dispatched == 0));
        Some(limit.map_or(depth, |limit| limit.min(depth)))
    }
}

/// What becomes of the active queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Serve,
    Wait,
    Expire,
}
