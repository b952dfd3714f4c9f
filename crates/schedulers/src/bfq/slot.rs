//! Slots of service: selection, service and expiry of a queue (specification, sections 8.3, 8.5).

use super::budget::Reason;
use super::service_tree::QueueId;
use super::state::{Bfq, Slot};
use crate::clock::{MILLISECOND, Nanos};
use crate::request::RequestId;
use crate::request_set::HeadRule;
use crate::state::QueueState;

const IDLE: usize = 2;

/// Longest time in which the idle class is not considered while others wait.
const IDLE_CLASS_PAUSE: Nanos = 200 * MILLISECOND;

/// Cost of an async request, relative to a sync one.
const ASYNC_FACTOR: u64 = 3;

impl Bfq {
    /// Cost of `request` in sectors of budget.
    pub(super) fn charge(&self, state: &QueueState, id: QueueId, request: RequestId) -> u64 {
        let sectors = u64::from(state.requests[request].bio.sectors);
        let queue = self.queue(id);
        if queue.sync || queue.raising.is_raised() || self.asymmetric(id) {
            sectors
        } else {
            ASYNC_FACTOR * sectors
        }
    }

    /// Budget for the next slot of `id`, which has requests.
    pub(super) fn next_budget(&self, state: &QueueState, id: QueueId) -> u64 {
        let queue = self.queue(id);
        let next = queue.requests.next;
        let next = next.map_or(0, |request| self.charge(state, id, request));
        queue.own_max_budget.max(next)
    }

    /// The next request to serve, if the device should not wait.
    pub(super) fn choose(&mut self, state: &mut QueueState) -> Option<RequestId> {
        if self.values.strict_guarantees != 0 && self.in_device > 0 {
            return None;
        }
        self.expire_timed_out(state);
        loop {
            let slot = self.slot.or_else(|| self.select(state))?;
            let id = slot.queue;
            let queue = self.queue(id);
            if let Some(request) = queue.requests.next {
                if self.charge(state, id, request) <= queue.entity.budget_left() {
                    return Some(self.serve(state, slot, request));
                }
                self.expire(state, Reason::BudgetExhausted);
            } else if slot.timer.is_some() || queue.in_device > 0 && self.worth_idling(state, id) {
                return self.inject(state, id);
            } else {
                self.expire(state, Reason::NoMoreRequests);
            }
        }
    }

    fn expire_timed_out(&mut self, state: &mut QueueState) {
        let Some(slot) = self.slot else { return };
        let empty = self.queue(slot.queue).is_empty();
        if self.is_timed_out(state, &slot) && !(empty && self.worth_idling(state, slot.queue)) {
            self.expire(state, Reason::BudgetTimeout);
        }
    }

    /// Whether the slot may end by its timeout: not while it waits with little budget left.
    fn is_timed_out(&self, state: &QueueState, slot: &Slot) -> bool {
        let entity = &self.queue(slot.queue).entity;
        let much_left = entity.budget_left() * 3 >= entity.budget;
        state.jiffy() >= slot.timeout && (slot.timer.is_none() || much_left)
    }

    /// Begin the slot of the queue that is next in virtual time.
    fn select(&mut self, state: &QueueState) -> Option<Slot> {
        let mut classes = [0, 1, IDLE];
        let consider_idle = state.now - self.idle_considered >= IDLE_CLASS_PAUSE;
        if consider_idle {
            self.idle_considered = state.now;
            classes = [IDLE, 0, 1];
        }
        let class = classes
            .into_iter()
            .find(|&class| !self.trees[class].is_empty())?;
        let id = self.trees[class].choose()?;
        self.trees[class].begin_service(id, &mut self.queues[id as usize].entity);
        self.max_budget.count_slot();
        let factor = u64::from(self.queue(id).raising.timeout_factor());
        let slot = Slot {
            queue: id,
            timeout: state.jiffy() + self.values.timeout_sync.unsigned_abs() * factor,
            timer: None,
            selected: state.now,
            idle_start: state.now,
            fifo_checked: false,
        };
        self.slot = Some(slot);
        Some(slot)
    }

    /// Serve `request` of the queue in service.
    fn serve(&mut self, state: &mut QueueState, mut slot: Slot, request: RequestId) -> RequestId {
        let id = slot.queue;
        let fifo_due = (!slot.fifo_checked).then_some(state.now);
        slot.timer = None;
        slot.fifo_checked = true;
        self.slot = Some(slot);
        self.charge_and_remove(state, id, request, fifo_due);
        if self.queue(id).raising.is_over(state.jiffy()) {
            self.end_raising_period(state, id);
        }
        if self.is_idle_class(id) && self.busy.total() > 1 {
            self.expire(state, Reason::BudgetExhausted);
        }
        request
    }

    /// Account `request` to queue `id` and move it to the device.
    pub(super) fn charge_and_remove(
        &mut self,
        state: &mut QueueState,
        id: QueueId,
        request: RequestId,
        fifo_due: Option<Nanos>,
    ) {
        let charge = self.charge(state, id, request);
        let bio = state.requests[request].bio;
        let rule = self.head_rule(bio.start);
        let queue = &mut self.queues[id as usize];
        self.trees[queue.class()].serve(&mut queue.entity, charge);
        queue.remove(&mut state.requests, request, &rule, fifo_due);
        queue.first_service.get_or_insert(state.now);
        queue.raising.serve(u64::from(bio.sectors));
        queue.in_device += 1;
        if self.rate.dispatched(&bio, state.now, self.in_device) {
            self.tune_max_budget(state);
        }
        self.in_device += 1;
        self.last_position = bio.end();
    }

    /// Rule of choice for a head at `sector`.
    pub(super) const fn head_rule(&self, sector: u64) -> HeadRule {
        HeadRule {
            head: sector,
            back_limit: 2 * self.values.back_seek_max.unsigned_abs(),
            back_penalty: self.values.back_seek_penalty.unsigned_abs(),
            metadata_first: true,
        }
    }

    /// A request of queue `id` has completed: wait for its next one, or end its slot.
    pub(super) fn continue_slot(&mut self, state: &mut QueueState, id: QueueId) {
        let Some(slot) = self.slot.filter(|slot| slot.queue == id) else {
            return;
        };
        let queue = self.queue(id);
        let worth_idling = self.worth_idling(state, id);
        if queue.is_empty() && worth_idling {
            if queue.in_device == 0 {
                let timer = Some(state.now + self.idle_time(id));
                let idle_start = state.now;
                self.slot = Some(Slot {
                    timer,
                    idle_start,
                    ..slot
                });
            }
        } else if self.is_timed_out(state, &slot) {
            self.expire(state, Reason::BudgetTimeout);
        } else if queue.is_empty() && (queue.in_device == 0 || !worth_idling) {
            self.expire(state, Reason::NoMoreRequests);
        }
    }

    /// A request has come for the queue in service while the device waited for it.
    pub(super) fn stop_waiting(&mut self, state: &mut QueueState, id: QueueId, request: RequestId) {
        let Some(slot) = self
            .slot
            .filter(|slot| slot.queue == id && slot.timer.is_some())
        else {
            return;
        };
        let single = self.queue(id).requests.fifo.len() == 1;
        let small = single && state.requests[request].bio.sectors < 32;
        let timed_out = state.jiffy() >= slot.timeout;
        if small && !timed_out && self.idles_for_throughput(state, id) {
            return;
        }
        self.slot = Some(Slot {
            timer: None,
            ..slot
        });
        if timed_out {
            self.expire(state, Reason::BudgetTimeout);
        }
    }

    /// The idle timer fires.
    pub(super) fn end_idling(&mut self, state: &mut QueueState) {
        let Some(slot) = self.slot else { return };
        self.slot = Some(Slot {
            timer: None,
            ..slot
        });
        if state.jiffy() >= slot.timeout {
            self.expire(state, Reason::BudgetTimeout);
        } else if self.queue(slot.queue).is_empty() {
            self.expire(state, Reason::TooIdle);
        }
    }

    /// End the slot.
    pub(super) fn expire(&mut self, state: &mut QueueState, reason: Reason) {
        let Some(slot) = self.slot.take() else { return };
        let id = slot.queue;
        self.charge_time(state, &slot, reason);
        self.adapt_budget(id, reason);
        let budget = self.next_budget(state, id);
        let queue = &mut self.queues[id as usize];
        queue.split |= queue.shared && queue.is_seeky();
        let tree = &mut self.trees[queue.class()];
        if queue.is_empty() {
            tree.deactivate(id, &mut queue.entity);
            queue.waited_for = !matches!(reason, Reason::BudgetTimeout | Reason::BudgetExhausted);
        } else {
            queue.entity.budget = budget;
            let weight = queue.weight();
            tree.requeue(id, &mut queue.entity, weight);
        }
        if !queue.waited_for {
            queue.entity.service = 0;
        }
        self.recount(id);
        self.note_emptied(state, id);
    }

    /// Account a slow or timed-out slot by its time.
    fn charge_time(&mut self, state: &QueueState, slot: &Slot, reason: Reason) {
        let queue = &self.queues[slot.queue as usize];
        let end = if reason == Reason::TooIdle {
            slot.idle_start
        } else {
            state.now
        };
        let duration = end - slot.selected;
        let service = queue.entity.service;
        let too_slow = if duration > 20 * MILLISECOND {
            service < self.max_budget.sectors / 2
        } else {
            queue.is_seeky()
        };
        let much_left = queue.entity.budget_left() * 3 >= queue.entity.budget;
        let by_time = queue.sync && too_slow || reason == Reason::BudgetTimeout && much_left;
        if queue.raising.is_raised() || !by_time {
            return;
        }
        let counted = match duration / MILLISECOND {
            0 if state.settings.rotational => 8,
            0 => 2,
            whole => whole,
        };
        let timeout = state
            .settings
            .hz
            .to_ms(self.values.timeout_sync.unsigned_abs())
            .max(1);
        let target = self.max_budget.sectors * counted.min(timeout) / timeout;
        let queue = &mut self.queues[slot.queue as usize];
        self.trees[queue.class()].serve(&mut queue.entity, target.saturating_sub(service));
    }

    fn adapt_budget(&mut self, id: QueueId, reason: Reason) {
        let queue = &mut self.queues[id as usize];
        queue.own_max_budget = if queue.raising.is_raised() {
            2 * self.max_budget.least()
        } else if queue.sync {
            let service = queue.entity.service;
            self.max_budget
                .adapt(queue.own_max_budget, reason, service, queue.in_device > 0)
        } else {
            self.max_budget.sectors
        };
    }
}
