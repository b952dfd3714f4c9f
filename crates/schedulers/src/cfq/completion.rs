//! Completions, the idle timer and the end of slices (specification, sections 4.7 and 4.9).

use super::Cfq;
use super::queue::thinks_longer;
use crate::clock::SECOND;
use crate::request::{Bio, RequestId};
use crate::state::QueueState;

/// Requests in the device from which it counts as one with command queueing.
const DEPTH: i64 = 5;
const SAMPLES: u32 = 50;

/// Estimate whether the device takes several commands.
#[derive(Debug, Default)]
pub struct CommandQueueing {
    known: Option<bool>,
    peak: i64,
    samples: u32,
}

impl CommandQueueing {
    /// Whether the device has command queueing, or this is unknown.
    pub fn assumed(&self) -> bool {
        self.known.unwrap_or(true)
    }
}

impl Cfq {
    fn sample_depth(&mut self, state: &QueueState) {
        let estimate = &mut self.command_queueing;
        estimate.peak = estimate.peak.max(self.in_driver);
        let shallow = self.queued <= DEPTH && self.in_driver <= DEPTH;
        if estimate.known == Some(true) || shallow {
            return;
        }
        if let Some(active) = self.active {
            let queue = self.queue(active);
            let requests = queue.dispatched + i64::try_from(queue.fifo.len()).unwrap_or(i64::MAX);
            if queue.idle_window && requests < DEPTH && self.in_driver < DEPTH {
                return;
            }
        }
        debug_assert!(
            state.settings.hardware_queues == 1,
            "CFQ is a legacy scheduler"
        );
        let estimate = &mut self.command_queueing;
        estimate.samples += 1;
        if estimate.samples >= SAMPLES {
            estimate.known = Some(estimate.peak >= DEPTH);
        }
    }

    pub(super) fn complete_request(&mut self, state: &mut QueueState, id: RequestId) {
        let now = super::now(state);
        let request = state.requests[id];
        let (index, sync) = (request.queue, request.bio.is_sync());
        self.sample_depth(state);
        self.in_driver -= 1;
        self.in_flight[usize::from(sync)] -= 1;
        let queue = &mut self.queues[index as usize];
        queue.dispatched -= 1;
        if sync {
            queue.last_completion = now;
            if let Some(tree) = queue.tree {
                self.trees.0[tree].last_completion = now;
            }
            self.group_last_completion = now;
            if super::signed(request.allocated) + self.values.fifo_expire_sync <= now {
                self.last_delayed_sync = now;
            }
        }
        if self.active == Some(index) {
            self.continue_slice(index, sync, state);
        }
    }

    /// Begin, prolong or end the slice of the active queue after a completion.
    fn continue_slice(&mut self, index: u32, sync: bool, state: &QueueState) {
        let now = super::now(state);
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
        if queue.slice_used(now) || queue.idle_class() {
            self.expire(index, true, now);
        } else if sync && queue.is_empty() {
            self.arm_timer(index, state);
        }
    }

    /// Whether the only queue is at the end of its slice and expects a request.
    fn should_wait_busy(&self, index: u32, state: &QueueState) -> bool {
        let now = super::now(state);
        let queue = self.queue(index);
        let jiffy = super::signed(SECOND / state.settings.hz.seconds(1));
        let left = queue.slice_end - now;
        self.trees.busy() == 1
            && queue.is_empty()
            && !thinks_longer(&self.group_think, self.values.group_idle)
            && (queue.slice_used(now) || queue.thinks_longer(left.max(0)) || left <= jiffy)
    }

    /// Wait for the next request of the active queue, if that is worthwhile.
    fn arm_timer(&mut self, index: u32, state: &QueueState) {
        let now = super::now(state);
        let group_idle = self.values.group_idle;
        let own = self.should_idle(index, state);
        let flash = !state.settings.rotational && self.command_queueing.assumed();
        if group_idle == 0 && (flash || !own) {
            return;
        }
        let queue = self.queue(index);
        let left = queue.slice_end - now;
        if queue.dispatched > 0 || queue.exited || queue.thinks_longer(left.max(0)) {
            return;
        }
        let think = queue.tree.map(|tree| self.trees.0[tree].think);
        let slow = think.is_some_and(|think| thinks_longer(&think, group_idle));
        if !own && (self.trees.busy() > 1 || slow) {
            return;
        }
        let wait = if own {
            self.values.slice_idle
        } else {
            group_idle
        };
        self.queue_mut(index).waiting = true;
        self.timer = Some(now + wait);
    }

    /// A request of the active queue ends the wait for it. A small request of the only queue
    /// leaves the timer, which may then end the slice.
    pub(super) fn end_wait(&mut self, index: u32, bio: &Bio) {
        const SMALL: u32 = 8;
        let other_busy = self.trees.busy() > 1;
        let queue = &mut self.queues[index as usize];
        if bio.sectors > SMALL || other_busy {
            queue.waiting = false;
            self.timer = None;
        } else {
            queue.must_dispatch = true;
        }
    }

    /// The wait for the active queue is over.
    pub(super) fn idle_timeout(&mut self, now: i64) {
        let Some(active) = self.active else {
            return;
        };
        let queue = self.queue_mut(active);
        if queue.must_dispatch {
            return;
        }
        if queue.slice_used(now) {
            self.expire(active, true, now);
        } else if queue.is_empty() {
            queue.deep = false;
            self.expire(active, false, now);
        }
    }

    /// End the slice of the active queue.
    pub(super) fn expire(&mut self, index: u32, timed_out: bool, now: i64) {
        self.timer = None;
        let values = self.values;
        let queue = self.queue_mut(index);
        queue.waiting = false;
        queue.wait_busy = false;
        if timed_out {
            queue.residual = if queue.new_slice {
                values.base_slice(queue.sync, queue.priority.level)
            } else {
                queue.slice_end - now
            };
        }
        self.active = None;
        if self.queue(index).is_empty() {
            self.leave_tree(index);
        } else {
            self.place(index, now);
        }
    }
}
