//! BFQ: shares of the device in sectors, by budgets and B-WF2Q+ (specification, section 8).
//!
//! Left out: cgroups (one root group), several actuators, "stable" merging, ends of processes,
//! waker detection, the adaptive part of injection, and per-group limits of tags. The
//! specification marks as unverified that its source text is that of the official kernel.
//!
//! Where the text leaves a choice:
//! - Service charged for time advances the virtual time like other service.
//! - A queue's own budget adapts after the charge for time.
//! - The candidate for preemption always differs from the queue in service.
//! - A first request has a seek distance of zero and, as in Linux 6.18, the longest think time.
//! - Injection takes the first queue by class and finish stamp that can pay.
//! - A merge takes effect with the request that finds the partner. A process gets its own queue
//!   back at its first request after the split.
//! - A queue of a large burst is never raised.
//! - Limits of tags count requests; the kernel limits the numbers of the tags.

mod arrival;
mod budget;
mod busy;
mod cooperation;
mod device;
mod idling;
mod queue;
mod raising;
mod service_tree;
mod slot;
mod state;
mod tunables;

pub use self::state::Bfq;

use self::service_tree::QueueId;
use self::tunables::TUNABLES;
use crate::clock::Nanos;
use crate::request::{Bio, RequestId};
use crate::request_set::RequestSet;
use crate::scheduler::Scheduler;
use crate::state::QueueState;
use crate::tunables::TunableError;

const fn is_sync_write(bio: &Bio) -> bool {
    bio.is_sync() && !bio.is_read()
}

impl Bfq {
    /// Apply the side effects of a new value of `name`.
    fn apply(&mut self, state: &QueueState, name: &str) {
        match name {
            "max_budget" if self.values.max_budget > 0 => {
                self.max_budget.sectors = self.values.max_budget.unsigned_abs();
            }
            "max_budget" | "timeout_sync" => self.tune_max_budget(state),
            "strict_guarantees" if self.values.strict_guarantees != 0 => {
                self.values.slice_idle = self.values.slice_idle.max(8_000_000);
            }
            "low_latency" if self.values.low_latency == 0 => self.end_all_raising(state),
            _ => {}
        }
    }

    fn end_all_raising(&mut self, state: &QueueState) {
        for id in 0..self.queues.len() {
            if self.queues[id].raising.is_raised() {
                let id = QueueId::try_from(id).expect("fewer than 2^32 queues");
                self.end_raising(state, id);
            }
        }
    }
}

impl Scheduler for Bfq {
    fn name(&self) -> &'static str {
        "bfq"
    }

    fn may_allocate(&self, state: &QueueState, bio: &Bio) -> bool {
        let sixteenths = match (is_sync_write(bio), self.busy.raised() > 0) {
            (true, true) => 6,
            (true, false) => 12,
            (false, true) => 3,
            (false, false) => 8,
        };
        let limit = (state.settings.nr_requests * sixteenths / 16).max(1);
        let limited = if bio.is_sync() {
            self.sync_writes
        } else {
            state.allocated(false)
        };
        (bio.is_read() || limited < limit) && state.has_tag()
    }

    fn front_merge(&self, bio: &Bio) -> Option<RequestId> {
        let queue = self.queue(self.queue_of(bio)?);
        queue.requests.sorted.find(bio.end())
    }

    fn permits_merge(&self, state: &QueueState, request: RequestId, bio: &Bio) -> bool {
        self.queue_of(bio) == Some(state.requests[request].queue)
    }

    fn set_of(&self, state: &QueueState, request: RequestId) -> Option<&RequestSet> {
        Some(&self.queue(state.requests[request].queue).requests)
    }

    fn set_of_mut(&mut self, state: &QueueState, request: RequestId) -> Option<&mut RequestSet> {
        let queue = state.requests[request].queue;
        Some(&mut self.queues[queue as usize].requests)
    }

    fn joined(&mut self, state: &mut QueueState, survivor: RequestId, absorbed: RequestId) {
        let request = &state.requests[absorbed];
        self.queued -= 1;
        self.sync_writes -= u32::from(is_sync_write(&request.bio));
        let set = &mut self.queues[request.queue as usize].requests;
        set.join(&mut state.requests, survivor, absorbed, |_, _| {
            Some(survivor)
        });
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        self.sync_writes += u32::from(is_sync_write(&bio));
        self.queued += 1;
        let queue = self.queue_for(state, &bio);
        self.arrive(state, queue, id);
    }

    fn dispatch(&mut self, state: &mut QueueState) {
        if let Some(id) = self.choose(state) {
            self.queued -= 1;
            state.dispatch_append(id);
        }
    }

    fn complete(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        let queue = state.requests[id].queue;
        self.sync_writes -= u32::from(is_sync_write(&bio));
        let thin = self.slot.is_some_and(|slot| {
            let served = self.queue(slot.queue);
            served.short_think && served.requests.fifo.len() + (served.in_device as usize) < 3
        });
        self.queueing.completed(self.in_device, self.queued, thin);
        if self.rate.completed(state.now) {
            self.tune_max_budget(state);
        }
        self.in_device -= 1;
        self.queues[queue as usize].in_device -= 1;
        self.queues[queue as usize].last_completion = Some(state.now);
        self.note_emptied(state, queue);
        self.continue_slot(state, queue);
    }

    fn next_timer(&self, _state: &QueueState) -> Option<Nanos> {
        self.slot.and_then(|slot| slot.timer)
    }

    fn run_timer(&mut self, state: &mut QueueState) {
        self.end_idling(state);
    }

    fn tune(&mut self, state: &QueueState, name: &str, text: &str) -> Result<(), TunableError> {
        TUNABLES.write(state.settings.hz, &mut self.values, name, text)?;
        self.apply(state, name);
        Ok(())
    }
}
