//! Completions, and the idle timer (specification, sections 4.7, 4.9 and 4.12).

use super::queue::thinks_longer;
use super::state::{Cfq, Release, signed};
use crate::clock::SECOND;
use crate::request::{Bio, RequestId};
use crate::state::QueueState;

/// Requests in the device from which it counts as one with command queueing.
const DEPTH: i64 = 5;
const SAMPLES: u32 = 50;

impl Cfq {
    fn sample_depth(&mut self) {
        let is_2_6_32 = self.is_2_6_32();
        let in_driver = self.in_driver[0] + self.in_driver[1];
        let is_thin = self.active.is_some_and(|active| {
            let queue = self.queue(active);
            let waiting = i64::try_from(queue.requests.fifo.len()).unwrap_or(i64::MAX);
            queue.idle_window && queue.dispatched + waiting < DEPTH && in_driver < DEPTH
        });
        let estimate = &mut self.command_queueing;
        estimate.peak = estimate.peak.max(in_driver);
        let is_shallow = self.queued <= DEPTH && in_driver <= DEPTH;
        if is_shallow || (!is_2_6_32 && (estimate.known == Some(true) || is_thin)) {
            return;
        }
        estimate.samples += 1;
        if estimate.samples >= SAMPLES {
            estimate.known = Some(estimate.peak >= DEPTH);
            if is_2_6_32 {
                estimate.samples = 0;
                estimate.peak = 0;
            }
        }
    }

    pub(super) fn complete_request(&mut self, state: &QueueState, id: RequestId) {
        let now = self.now(state);
        let request = state.requests[id];
        let index = request.queue;
        let sync = usize::from(request.bio.is_sync());
        self.sample_depth();
        self.in_driver[sync] -= 1;
        self.in_flight[sync] -= 1;
        let queue = &mut self.queues[index as usize];
        queue.dispatched -= 1;
        if request.bio.is_sync() {
            queue.last_completion = now;
            if let Some(tree) = queue.tree {
                self.trees.0[tree].last_completion = now;
            }
            self.group_last_completion = now;
            let is_delayed = || signed(request.allocated + self.values.fifo_expire(true)) <= now;
            if self.is_2_6_32() || is_delayed() {
                self.last_sync = now;
            }
        }
        if self.active == Some(index) {
            self.continue_slice(index, &request.bio, state);
        }
    }

    /// Begin, prolong or end the slice of the active queue after a completion.
    fn continue_slice(&mut self, index: u32, bio: &Bio, state: &QueueState) {
        let now = self.now(state);
        if self.queue(index).new_slice {
            let slice = self.slice(index);
            let queue = self.queue_mut(index);
            queue.slice_start = now;
            queue.slice_end = now + slice;
            queue.new_slice = false;
        }
        if self.should_wait_busy(index, state) {
            let idle = if self.should_idle(index, state) {
                self.values.slice_idle
            } else {
                self.values.group_idle
            };
            let queue = self.queue_mut(index);
            queue.slice_end = now + idle;
            queue.wait_busy = true;
        }
        let queue = self.queue(index);
        let expects_more = bio.is_sync() && !(self.is_2_6_32() && bio.no_idle);
        if queue.slice_used(now) || queue.idle_class() {
            self.expire(index, true, now);
        } else if expects_more && queue.is_empty() {
            let wait = match self.release {
                Release::V2_6_32 => self.wait_in_2_6_32(index, state),
                Release::V4_14 => self.wait(index, state),
            };
            if let Some(wait) = wait {
                self.queue_mut(index).waiting = true;
                self.timer = Some(now + wait);
            }
        }
    }

    /// Whether the only queue is at the end of its slice and expects a request (4.14).
    fn should_wait_busy(&self, index: u32, state: &QueueState) -> bool {
        if self.is_2_6_32() {
            return false;
        }
        let now = self.now(state);
        let queue = self.queue(index);
        let jiffy = signed(SECOND / state.settings.hz.seconds(1));
        let left = queue.slice_end - now;
        self.trees.busy() == 1
            && queue.is_empty()
            && !thinks_longer(&self.group_think, self.values.group_idle)
            && (queue.slice_used(now) || queue.thinks_longer(left.max(0)) || left <= jiffy)
    }

    /// Time to wait for the next request of the active queue, if that is worthwhile.
    fn wait(&self, index: u32, state: &QueueState) -> Option<i64> {
        let group_idle = self.values.group_idle;
        let own = self.should_idle(index, state);
        if group_idle == 0 && (self.is_flash(state) || !own) {
            return None;
        }
        let queue = self.queue(index);
        let left = queue.slice_end - self.now(state);
        if queue.dispatched > 0 || queue.thinks_longer(left.max(0)) {
            return None;
        }
        if own {
            return Some(self.values.slice_idle);
        }
        let think = queue.tree.map(|tree| self.trees.0[tree].think);
        let slow = think.is_some_and(|think| thinks_longer(&think, group_idle));
        (self.trees.busy() <= 1 && !slow).then_some(group_idle)
    }

    fn wait_in_2_6_32(&self, index: u32, state: &QueueState) -> Option<i64> {
        let wait = self.idle_time(index, state);
        let queue = self.queue(index);
        let left = (queue.slice_end - self.now(state)).max(0);
        let pays = queue.idle_window && !queue.thinks_longer(left);
        let is_idle = self.in_driver == [0; 2];
        (wait > 0 && pays && is_idle && !self.is_flash(state)).then_some(wait)
    }

    /// The longest wait for a queue in 2.6.32: 2 ms if it is known to seek.
    pub(super) fn idle_time(&self, index: u32, state: &QueueState) -> i64 {
        let queue = self.queue(index);
        let slice_idle = self.values.slice_idle;
        if queue.seek.valid() && queue.seeky_by_mean() {
            slice_idle.min(signed(state.settings.hz.from_ms(2)))
        } else {
            slice_idle
        }
    }

    fn is_flash(&self, state: &QueueState) -> bool {
        !state.settings.rotational && self.command_queueing.assumed()
    }

    /// The wait for the active queue is over.
    pub(super) fn idle_timeout(&mut self, now: i64) {
        let Some(active) = self.active else {
            return;
        };
        let is_busy = self.trees.busy() > 0;
        let queue = self.queue_mut(active);
        if queue.must_dispatch {
            return;
        }
        if queue.slice_used(now) {
            self.expire(active, true, now);
        } else if is_busy && queue.is_empty() {
            queue.deep = false;
            self.expire(active, false, now);
        }
    }
}
