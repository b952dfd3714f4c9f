//! Arrival of requests: activation, preemption and weight raising (specification, sections 8.4,
//! 8.7).

use super::budget::Reason;
use super::raising::{INTERACTIVE, INTERACTIVE_IDLE, SOFT_PERIOD_MS, SOFT_REAL_TIME};
use super::service_tree::QueueId;
use super::state::Bfq;
use crate::clock::{MILLISECOND, Nanos};
use crate::request::RequestId;
use crate::state::QueueState;

/// Time without arrival or raising after which an async queue is raised.
const ASYNC_PAUSE: Nanos = 500 * MILLISECOND;

/// Weight of the queues that are raised.
const RAISED_WEIGHT: u32 = 40;

impl Bfq {
    /// Queue `request` in `id`.
    pub(super) fn arrive(&mut self, state: &mut QueueState, id: QueueId, request: RequestId) {
        let bio = state.requests[request].bio;
        let slice_idle = self.values.slice_idle();
        let rule = self.head_rule(self.last_position);
        let queue = &mut self.queues[id as usize];
        let busy = queue.is_busy();
        if !busy {
            queue.waited_for &= queue.priority.class == bio.priority.class;
            queue.priority = bio.priority;
        }
        queue.observe(&bio, state.now, state.settings.rotational, slice_idle);
        state.requests[request].queue = id;
        state.requests[request].deadline = state.now + self.values.fifo_expire(queue.sync);
        queue.add(&mut state.requests, request, &rule);
        if busy {
            self.raise_async(state, id);
            self.stop_waiting(state, id, request);
        } else {
            self.become_busy(state, id);
        }
        let queue = &mut self.queues[id as usize];
        if !queue.raising.is_raised() {
            queue.raising.last_change = state.now;
        }
    }

    /// Activate `id`, which has its first request, and let it preempt the queue in service.
    fn become_busy(&mut self, state: &mut QueueState, id: QueueId) {
        let raised = self.raise(state, id);
        let in_time = self.arrived_in_time(state, id);
        let mut budget = self.next_budget(state, id);
        let queue = &self.queues[id as usize];
        let left = queue.entity.budget_left();
        let back_shift = queue.waited_for && in_time && left > 0;
        if back_shift {
            budget = left.min(queue.own_max_budget);
        }
        if raised {
            budget = budget.min(2 * self.max_budget.least());
        }
        let queue = &mut self.queues[id as usize];
        queue.waited_for = false;
        queue.entity.service = 0;
        queue.entity.budget = budget;
        queue.raising.become_busy(state.now);
        let (weight, factor) = (queue.weight(), queue.raising.factor());
        self.trees[queue.class()].activate(id, &mut queue.entity, weight, back_shift, factor);
        self.recount(id);
        if self.preempts(state, id, back_shift) {
            self.expire(state, Reason::Preempted);
        }
    }

    fn arrived_in_time(&self, state: &QueueState, id: QueueId) -> bool {
        let limit = 3 * self.values.slice_idle();
        let last = self.queue(id).last_completion;
        last.is_some_and(|last| state.now - last <= limit)
    }

    /// Whether `id`, which has just become busy, ends the current slot. The candidate for the next
    /// slot always differs from the queue in service, which is in no active set.
    fn preempts(&self, state: &QueueState, id: QueueId, back_shift: bool) -> bool {
        let Some(slot) = self.slot else { return false };
        let (queue, served) = (self.queue(id), self.queue(slot.queue));
        let returns = back_shift && queue.raising.factor() >= served.raising.factor();
        let same_class = queue.class() == served.class();
        let better = queue.class() < served.class()
            || same_class && queue.entity.weight > served.entity.weight;
        returns || better || !self.worth_idling(state, slot.queue)
    }

    /// Decide whether `id`, which becomes busy, is raised. Returns whether a raising begins.
    fn raise(&mut self, state: &QueueState, id: QueueId) -> bool {
        let now = state.now;
        let queue = &self.queues[id as usize];
        let was_raised = queue.raising.is_raised();
        let eligible = self.values.low_latency != 0
            && queue.base_weight() == RAISED_WEIGHT
            && queue.sync
            && !queue.shared
            && !queue.raising.in_large_burst;
        let idle = queue
            .last_completion
            .is_none_or(|last| now - last >= INTERACTIVE_IDLE);
        let quiet = eligible && queue.in_device == 0;
        let soft = queue.raising.is_soft(now) && !queue.only_seeks();
        let (factor, period) = match (quiet && idle, quiet && soft) {
            (true, _) => (INTERACTIVE, self.rate.interactive_ms()),
            (false, true) => (SOFT_REAL_TIME, SOFT_PERIOD_MS),
            (false, false) => (1, 0),
        };
        let raising = &mut self.queues[id as usize].raising;
        if factor > 1 {
            raising.begin(
                factor,
                state.jiffy() + state.settings.hz.from_ms(period),
                now,
            );
        } else if !eligible && was_raised {
            raising.end(now);
        } else if raising.is_over(state.jiffy()) {
            raising.end_period(state.jiffy(), now);
        }
        factor > 1 && !was_raised
    }

    /// Raise a busy async queue at an arrival after a pause.
    fn raise_async(&mut self, state: &QueueState, id: QueueId) {
        let period = state.settings.hz.from_ms(self.rate.interactive_ms());
        let queue = &mut self.queues[id as usize];
        let paused = state.now - queue.raising.last_change > ASYNC_PAUSE;
        let eligible = !queue.sync && queue.base_weight() == RAISED_WEIGHT;
        if self.values.low_latency == 0 || !eligible || !paused || queue.raising.is_raised() {
            return;
        }
        queue
            .raising
            .begin(INTERACTIVE, state.jiffy() + period, state.now);
        self.reweigh(id);
    }

    /// End the raising of `id` at once.
    pub(super) fn end_raising(&mut self, state: &QueueState, id: QueueId) {
        self.queues[id as usize].raising.end(state.now);
        self.reweigh(id);
    }

    /// End a period of raising of `id` that is over.
    pub(super) fn end_raising_period(&mut self, state: &QueueState, id: QueueId) {
        let raising = &mut self.queues[id as usize].raising;
        raising.end_period(state.jiffy(), state.now);
        self.reweigh(id);
    }

    /// Apply the weight of `id` in its tree.
    fn reweigh(&mut self, id: QueueId) {
        let queue = &mut self.queues[id as usize];
        if queue.is_busy() {
            let weight = queue.weight();
            self.trees[queue.class()].reweigh(id, &mut queue.entity, weight);
            self.recount(id);
        }
    }

    /// Compute the next soft real-time start of `id` if it has emptied.
    pub(super) fn note_emptied(&mut self, state: &QueueState, id: QueueId) {
        let jiffies = state.settings.hz.tick(4);
        let pause = self.values.slice_idle() + jiffies;
        let queue = &mut self.queues[id as usize];
        if queue.is_quiet() && !queue.is_busy() {
            queue.raising.emptied(state.now, pause);
        }
    }
}
