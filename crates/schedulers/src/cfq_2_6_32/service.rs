//! Service of the active queue: selection, dispatch, completion and the idle timer.

use super::Cfq2632;
use crate::request::{Bio, RequestId};
use crate::state::QueueState;

/// Requests in the device from which it counts as one with command queueing.
const DEPTH: i64 = 5;
const SAMPLES: u32 = 50;

/// Estimate whether the device takes several commands; evaluated every 50 samples.
#[derive(Debug, Default)]
pub struct CommandQueueing {
    absent: bool,
    peak: i64,
    samples: u32,
}

impl CommandQueueing {
    pub fn assumed(&self) -> bool {
        !self.absent
    }

    fn sample(&mut self, queued: i64, in_driver: i64) {
        self.peak = self.peak.max(in_driver);
        if queued <= DEPTH && in_driver <= DEPTH {
            return;
        }
        self.samples += 1;
        if self.samples >= SAMPLES {
            self.absent = self.peak < DEPTH;
            self.samples = 0;
            self.peak = 0;
        }
    }
}

impl Cfq2632 {
    /// The queue to serve, or none to keep the device idle.
    pub(super) fn select(&mut self, state: &QueueState) -> Option<u32> {
        if self.queued == 0 {
            return None;
        }
        let now = super::now(state);
        if let Some(active) = self.active {
            let queue = self.queue(active);
            if !queue.slice_used(now) || queue.must_dispatch {
                if !queue.is_empty() {
                    return Some(active);
                }
                if self.timer.is_some() || (queue.dispatched > 0 && queue.idle_window) {
                    return None;
                }
            }
            self.expire(active, false, now);
        }
        let &(_, _, index) = self.tree.first()?;
        self.timer = None;
        self.queue_mut(index).begin_slice();
        self.active = Some(index);
        Some(index)
    }

    /// Dispatch one request of queue `index`, unless its limits forbid it.
    pub(super) fn dispatch_from(&mut self, index: u32, state: &mut QueueState) {
        let now = super::now(state);
        if !self.may_dispatch(index, now) {
            return;
        }
        let expired = self.expired_head(index, state);
        let queue = self.queue(index);
        let Some(id) = expired.or(queue.next).or(queue.fifo.head()) else {
            return;
        };
        let others = self.busy() > 1;
        self.take(index, id, state);
        let quota = 2 * self.values.slice_async_rq;
        let queue = self.queue_mut(index);
        queue.slice_dispatched += 1;
        queue.must_dispatch = false;
        let level = i64::from(queue.priority.level);
        let used = !queue.sync && queue.slice_dispatched >= quota * (8 - level);
        if others && (used || queue.idle_class()) {
            queue.slice_end = now;
            self.expire(index, false, now);
        }
    }

    /// Move `id` to the dispatch list. An empty queue leaves the tree.
    pub(super) fn take(&mut self, index: u32, id: RequestId, state: &mut QueueState) {
        let rule = self.rule();
        let sync = state.requests[id].bio.is_sync();
        let queue = self.queue_mut(index);
        queue.next = queue.successor(&rule, state, id);
        queue.remove(state, id);
        queue.dispatched += 1;
        let empty = queue.is_empty();
        self.queued -= 1;
        self.in_flight[usize::from(sync)] += 1;
        if empty {
            self.leave_tree(index);
        }
        state.dispatch_sorted(id);
    }

    fn expired_head(&mut self, index: u32, state: &QueueState) -> Option<RequestId> {
        let queue = self.queue_mut(index);
        if std::mem::replace(&mut queue.fifo_checked, true) {
            return None;
        }
        let head = queue.fifo.head()?;
        (state.requests[head].deadline <= state.jiffy()).then_some(head)
    }

    fn may_dispatch(&self, index: u32, now: i64) -> bool {
        let queue = self.queue(index);
        if (queue.idle_window && self.in_driver[0] > 0) || (!queue.sync && self.in_flight[1] > 0) {
            return false;
        }
        let mut limit = if queue.idle_class() {
            1
        } else {
            self.values.quantum
        };
        if queue.dispatched >= limit {
            if queue.idle_class() || self.busy() > 1 {
                return false;
            }
            limit *= 4;
        }
        if !queue.sync && self.values.low_latency != 0 {
            let depth = (now - self.last_sync) / self.values.slice_sync;
            limit = limit.min(depth.max(i64::from(queue.dispatched == 0)));
        }
        queue.dispatched < limit
    }

    pub(super) fn complete_request(&mut self, state: &mut QueueState, id: RequestId) {
        let now = super::now(state);
        let index = state.requests[id].queue;
        let bio = state.requests[id].bio;
        let sync = usize::from(bio.is_sync());
        let in_driver = self.in_driver[0] + self.in_driver[1];
        self.command_queueing.sample(self.queued, in_driver);
        self.in_driver[sync] -= 1;
        self.in_flight[sync] -= 1;
        let queue = self.queue_mut(index);
        queue.dispatched -= 1;
        if bio.is_sync() {
            queue.last_completion = now;
            self.last_sync = now;
        }
        if self.active == Some(index) {
            self.continue_slice(index, &bio, state);
        }
    }

    fn continue_slice(&mut self, index: u32, bio: &Bio, state: &QueueState) {
        let now = super::now(state);
        let values = self.values;
        let queue = self.queue_mut(index);
        if queue.new_slice {
            queue.slice_start = now;
            queue.slice_end = now + values.slice(queue.sync, queue.priority.level);
            queue.new_slice = false;
        }
        if queue.slice_used(now) || queue.idle_class() {
            self.expire(index, true, now);
        } else if bio.is_sync() && !bio.no_idle && queue.is_empty() {
            self.arm_timer(index, state);
        }
    }

    fn arm_timer(&mut self, index: u32, state: &QueueState) {
        let now = super::now(state);
        let wait = self.idle_time(index);
        let flash = !state.settings.rotational && self.command_queueing.assumed();
        let in_driver = self.in_driver[0] + self.in_driver[1] > 0;
        let queue = self.queue_mut(index);
        let left = (queue.slice_end - now).max(0);
        let pays = queue.idle_window && !queue.exited && !queue.thinks_longer(left);
        if wait > 0 && pays && !flash && !in_driver {
            queue.waiting = true;
            self.timer = Some(now + wait);
        }
    }

    /// A request of the active queue arrives while the device waits for it.
    pub(super) fn end_wait(&mut self, index: u32, bio: &Bio) {
        const SMALL: u32 = 8;
        let other_busy = self.busy() > 1;
        let queue = self.queue_mut(index);
        queue.must_dispatch = true;
        if bio.sectors > SMALL || other_busy {
            queue.waiting = false;
            self.timer = None;
        }
    }

    /// The wait for the active queue is over.
    pub(super) fn idle_timeout(&mut self, now: i64) {
        let Some(active) = self.active else {
            return;
        };
        let busy = self.busy() > 0;
        let queue = self.queue(active);
        if queue.must_dispatch {
            return;
        }
        if queue.slice_used(now) {
            self.expire(active, true, now);
        } else if busy && queue.is_empty() {
            self.expire(active, false, now);
        }
    }

    /// End the slice of the active queue.
    pub(super) fn expire(&mut self, index: u32, timed_out: bool, now: i64) {
        self.timer = None;
        self.active = None;
        let queue = self.queue_mut(index);
        queue.waiting = false;
        if timed_out && !queue.new_slice {
            queue.residual = queue.slice_end - now;
        }
        if !queue.is_empty() {
            self.place(index, now);
        }
    }
}
