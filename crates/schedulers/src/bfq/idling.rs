//! Decision to keep the device idle for a queue, its duration, and the service in that time
//! (specification, section 8.6).

use super::service_tree::{QueueId, ServiceTree};
use super::state::Bfq;
use crate::clock::{MILLISECOND, Nanos};
use crate::request::RequestId;
use crate::state::QueueState;

const SEEKY_IDLE: Nanos = 2 * MILLISECOND;
const RAISED_IDLE: Nanos = 20 * MILLISECOND;

impl Bfq {
    /// Whether busy queues have different claims, so that `id` needs idling to get its share.
    pub(super) fn asymmetric(&self, id: QueueId) -> bool {
        self.busy.asymmetric(self.queue(id).base_weight())
    }

    /// Whether the device should wait for the next request of `id` when it is empty.
    pub(super) fn worth_idling(&self, state: &QueueState, id: QueueId) -> bool {
        if self.values.strict_guarantees != 0 {
            return true;
        }
        if self.values.slice_idle == 0 || !self.queue(id).sync || self.is_idle_class(id) {
            return false;
        }
        self.idles_for_throughput(state, id) || self.idles_for_guarantees(id)
    }

    /// Whether idling for `id` raises the throughput.
    pub(super) fn idles_for_throughput(&self, state: &QueueState, id: QueueId) -> bool {
        let queue = self.queue(id);
        let rotational = state.settings.rotational;
        let queueing = self.queueing.present();
        let steady = !queue.is_seeky() && queue.io_bound && queue.short_think;
        self.busy.raised() == 0 && (rotational && !queueing || (rotational || !queueing) && steady)
    }

    /// Whether `id` would lose its share without idling.
    fn idles_for_guarantees(&self, id: QueueId) -> bool {
        let queue = self.queue(id);
        let raised = queue.raising.is_raised()
            && (self.busy.raised() < self.busy.total() || self.in_device >= queue.in_device + 4);
        raised || self.asymmetric(id) || self.busy.total() == 1 && queue.is_busy()
    }

    /// Time to wait for the next request of `id`.
    pub(super) fn idle_time(&self, id: QueueId) -> Nanos {
        let queue = self.queue(id);
        let slice_idle = self.values.slice_idle();
        if queue.raising.is_raised() {
            slice_idle.max(RAISED_IDLE)
        } else if queue.is_seeky() && !self.asymmetric(id) {
            slice_idle.min(SEEKY_IDLE)
        } else {
            slice_idle
        }
    }

    /// Take a request of another queue while the device waits for `id`.
    pub(super) fn inject(&mut self, state: &mut QueueState, id: QueueId) -> Option<RequestId> {
        let other = self
            .own_async(state, id)
            .or_else(|| self.injectable(state, id))?;
        let request = self.queue(other).requests.next?;
        self.charge_and_remove(state, other, request, None);
        if self.queue(other).is_empty() {
            let class = self.queue(other).class();
            let entity = &mut self.queues[other as usize].entity;
            self.trees[class].deactivate(other, entity);
            self.recount(other);
        }
        Some(request)
    }

    /// The async queue whose next request the process of `id` issued.
    fn own_async(&self, state: &QueueState, id: QueueId) -> Option<QueueId> {
        let priority = self.queue(id).priority;
        let other = self.async_queue(priority)?;
        let request = self.queue(other).requests.next?;
        let process = state.requests[request].bio.process;
        (self.process_queue(process) == Some(id) && self.affords(other, state, request))
            .then_some(other)
    }

    fn injectable(&self, state: &QueueState, id: QueueId) -> Option<QueueId> {
        let queue = self.queue(id);
        let permitted = !self.idles_for_throughput(state, id)
            && (!queue.raising.is_raised() || self.busy.raised() > 1 || !queue.short_think);
        if !permitted || self.in_device >= self.injection_limit(state, id) {
            return None;
        }
        let mut waiting = self.trees.iter().flat_map(ServiceTree::waiting);
        waiting.find(|&other| {
            let next = self.queue(other).requests.next;
            next.is_some_and(|request| self.affords(other, state, request))
        })
    }

    /// Requests in the device up to which others are served while the device waits for `id`.
    fn injection_limit(&self, state: &QueueState, id: QueueId) -> u32 {
        let queue = self.queue(id);
        let waited = queue.last_completion.map_or(0, |last| state.now - last);
        let long = queue.is_quiet() && waited >= self.values.slice_idle();
        u32::from(!queue.short_think || long)
    }

    fn affords(&self, id: QueueId, state: &QueueState, request: RequestId) -> bool {
        self.charge(state, id, request) <= self.queue(id).entity.budget_left()
    }
}
