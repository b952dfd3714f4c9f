//! Request queue: merges, allocates, dispatches and completes requests with a scheduler.

use crate::clock::Nanos;
use crate::merge::{MergePolicy, MergeSide, MergeTarget};
use crate::request::{Bio, Request, RequestId};
use crate::scheduler::Scheduler;
use crate::state::{QueueState, Settings};
use crate::tunables::TunableError;

/// Result of submitting a bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submission {
    /// The bio is a new request.
    Inserted(RequestId),
    /// The bio joined this request.
    Merged(RequestId),
    /// No request can be allocated. The process must wait for a completion and submit again.
    Full,
}

/// Queue of a device.
///
/// The order of the calls at one instant is: completions, submissions, timers, and then
/// [`dispatch`](Self::dispatch) until it returns none. The time of the calls never goes back. It
/// should begin well above one second, because some schedulers compute times before now.
pub struct RequestQueue {
    state: QueueState,
    scheduler: Box<dyn Scheduler>,
}

impl RequestQueue {
    /// An empty queue.
    pub fn new(settings: Settings, start: Nanos, build: SchedulerBuilder) -> Self {
        let mut state = QueueState::new(settings);
        state.now = start;
        let scheduler = build(&state);
        Self { state, scheduler }
    }

    /// Submit `bio` at `now`.
    pub fn submit(&mut self, now: Nanos, bio: Bio) -> Submission {
        self.state.now = now;
        if let Some(target) = self.find_merge(&bio) {
            return Submission::Merged(self.merge(target, bio));
        }
        if !self.scheduler.may_allocate(&self.state, &bio) {
            return Submission::Full;
        }
        let id = self.state.allocate(bio);
        if self.state.settings.merges != MergePolicy::Disabled {
            self.state.index_for_merges(id);
        }
        self.scheduler.insert(&mut self.state, id);
        Submission::Inserted(id)
    }

    /// Completions after which as many processes that wait for a request are woken, in any order.
    /// None: each completion wakes processes in the order of their arrival.
    pub fn wake_batch(&self) -> Option<u32> {
        self.scheduler.wake_batch(&self.state)
    }

    fn find_merge(&self, bio: &Bio) -> Option<MergeTarget> {
        match self.state.settings.merges {
            MergePolicy::All => self.scheduler.find_merge(&self.state, bio),
            MergePolicy::CacheOnly => self.state.cached_merge(bio).filter(|target| {
                self.scheduler
                    .permits_merge(&self.state, target.request, bio)
            }),
            MergePolicy::Disabled => None,
        }
    }

    /// Merge `bio` and then the neighbour that the request reaches. Returns the request.
    fn merge(&mut self, target: MergeTarget, bio: Bio) -> RequestId {
        let request = target.request;
        let old_start = self.state.requests[request].bio.start;
        self.state.grow(target, bio);
        if target.side == MergeSide::Back {
            let next = self.scheduler.next_request(&self.state, request);
            next.map_or(request, |next| self.join(request, next, request))
        } else {
            self.scheduler.front_merged(&self.state, request, old_start);
            let previous = self.scheduler.previous_request(&self.state, request);
            previous.map_or(request, |previous| self.join(previous, request, request))
        }
    }

    /// Join the neighbours `lower` and `upper` if they touch. Returns the one of them that now
    /// contains `grown`.
    fn join(&mut self, lower: RequestId, upper: RequestId, grown: RequestId) -> RequestId {
        let (below, above) = (
            self.state.requests[lower].bio,
            self.state.requests[upper].bio,
        );
        if below.end() != above.start || !self.state.fit_together(lower, &above) {
            return grown;
        }
        self.scheduler.joined(&mut self.state, lower, upper);
        self.state.join(lower, upper);
        lower
    }

    /// The request that the driver takes at `now`; none if the device is full or the scheduler holds
    /// its requests back.
    pub fn dispatch(&mut self, now: Nanos) -> Option<RequestId> {
        let state = &mut self.state;
        state.now = now;
        if state.in_driver >= state.settings.queue_depth {
            return None;
        }
        if state.dispatch.is_empty() {
            self.scheduler.dispatch(state);
        }
        let id = state.dispatch.pop(&mut state.requests)?;
        state.in_driver += 1;
        state.requests[id].issued = now;
        self.scheduler.activate(state, id);
        Some(id)
    }

    /// Let the driver take a request of the scheduler although the device is full, if it does that.
    /// A later [`dispatch`](Self::dispatch) returns it first.
    pub fn take_ahead(&mut self, now: Nanos) {
        let state = &mut self.state;
        state.now = now;
        if state.settings.takes_ahead && state.dispatch.is_empty() {
            self.scheduler.dispatch(state);
        }
    }

    /// Complete `id` at `now` and append the tags of its bios to `tags`.
    pub fn complete(&mut self, now: Nanos, id: RequestId, tags: &mut Vec<u64>) {
        let state = &mut self.state;
        state.now = now;
        state.in_driver -= 1;
        self.scheduler.complete(state, id);
        state.release(id, tags);
    }

    /// Time of the scheduler's next timer.
    pub fn next_timer(&self) -> Option<Nanos> {
        self.scheduler.next_timer(&self.state)
    }

    /// Run the timers that are due at `now`.
    pub fn run_timers(&mut self, now: Nanos) {
        self.state.now = now;
        while self.next_timer().is_some_and(|time| time <= now) {
            self.scheduler.run_timer(&mut self.state);
        }
    }

    /// A request that is not complete.
    pub fn request(&self, id: RequestId) -> &Request {
        &self.state.requests[id]
    }

    /// The queue's state.
    pub const fn state(&self) -> &QueueState {
        &self.state
    }

    /// Name of the scheduler.
    pub fn scheduler(&self) -> &'static str {
        self.scheduler.name()
    }

    /// Set a tunable.
    ///
    /// # Errors
    ///
    /// A [`TunableError`] if the scheduler has no such tunable or the text is not a number.
    pub fn write_tunable(&mut self, name: &str, text: &str) -> Result<(), TunableError> {
        self.scheduler.tune(&self.state, name, text)
    }
}

/// Function that creates a scheduler for an empty queue at its start time.
pub type SchedulerBuilder = fn(&QueueState) -> Box<dyn Scheduler>;
