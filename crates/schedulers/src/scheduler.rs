//! Interface of all schedulers.

use crate::clock::Nanos;
use crate::merge::{MergeSide, MergeTarget};
use crate::request::{Bio, RequestId};
use crate::request_set::RequestSet;
use crate::state::QueueState;
use crate::tunables::TunableError;

/// An I/O scheduler as a state machine. A [`RequestQueue`](crate::RequestQueue) calls it.
///
/// The scheduler owns the order of its requests; the [`QueueState`] owns the requests. `state.now`
/// is the time of each call and never goes back.
pub trait Scheduler: Send {
    /// Name as in `queue/scheduler`.
    fn name(&self) -> &'static str;

    /// Whether a request for `bio` may be allocated now. The default is that of the legacy block
    /// layer: `nr_requests` sync and as many async requests, and half as many more for the process
    /// for which the device waits.
    fn may_allocate(&self, state: &QueueState, bio: &Bio) -> bool {
        let limit = state.settings.nr_requests;
        let extra = if self.waits_for(bio) { limit / 2 } else { 0 };
        state.allocated(bio.is_sync()) < limit + extra
    }

    /// Whether the device is kept idle for requests like `bio`.
    fn waits_for(&self, _bio: &Bio) -> bool {
        false
    }

    /// Completions after which as many waiting processes are woken, in any order. None: each
    /// completion wakes processes in the order of their arrival, as in the legacy block layer.
    fn wake_batch(&self, _state: &QueueState) -> Option<u32> {
        None
    }

    /// The request that absorbs `bio`. The default tries the last-merge cache, the hash of request
    /// ends, and [`front_merge`](Self::front_merge), in this order.
    fn find_merge(&self, state: &QueueState, bio: &Bio) -> Option<MergeTarget> {
        let permits = |id| self.permits_merge(state, id, bio);
        state
            .cached_merge(bio)
            .filter(|target| permits(target.request))
            .or_else(|| state.back_merge(bio, permits))
            .or_else(|| {
                let request = self.front_merge(bio)?;
                let fits = state.fit_together(request, bio) && permits(request);
                let side = MergeSide::Front;
                fits.then_some(MergeTarget { request, side })
            })
    }

    /// A request that begins where `bio` ends, from the scheduler's own set.
    fn front_merge(&self, _bio: &Bio) -> Option<RequestId> {
        None
    }

    /// Whether `bio` may join `request`, which is adjacent and has room.
    fn permits_merge(&self, _state: &QueueState, _request: RequestId, _bio: &Bio) -> bool {
        true
    }

    /// The set that holds `request`; none in a scheduler that does not sort.
    fn set_of(&self, _state: &QueueState, _request: RequestId) -> Option<&RequestSet> {
        None
    }

    /// The set that holds `request`, to change it.
    fn set_of_mut(&mut self, _state: &QueueState, _request: RequestId) -> Option<&mut RequestSet> {
        None
    }

    /// `request` has grown at its front; it began at `old_start`.
    fn front_merged(&mut self, state: &QueueState, request: RequestId, old_start: u64) {
        if let Some(set) = self.set_of_mut(state, request) {
            set.sorted.remove(old_start, request);
            set.sorted
                .insert(state.requests[request].bio.start, request);
        }
    }

    /// The request before `request` in the scheduler's order, to join them if they touch.
    fn previous_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        let start = state.requests[request].bio.start;
        self.set_of(state, request)?.sorted.previous(start, request)
    }

    /// The request after `request` in the scheduler's order, to join them if they touch.
    fn next_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        self.set_of(state, request)?.above(&state.requests, request)
    }

    /// Remove `absorbed`, which joins `survivor`. The requests have not grown yet.
    fn joined(&mut self, _state: &mut QueueState, _survivor: RequestId, _absorbed: RequestId) {}

    /// Accept a new request.
    fn insert(&mut self, state: &mut QueueState, id: RequestId);

    /// Move the next requests to the dispatch list with [`QueueState::dispatch_append`] or
    /// [`QueueState::dispatch_sorted`], or none.
    ///
    /// The queue calls it when the dispatch list is empty and the device accepts a command.
    fn dispatch(&mut self, state: &mut QueueState);

    /// The driver takes `id` from the dispatch list.
    fn activate(&mut self, _state: &mut QueueState, _id: RequestId) {}

    /// The device has completed `id`. `state.in_driver` no longer counts it.
    fn complete(&mut self, _state: &mut QueueState, _id: RequestId) {}

    /// Time of the next timer. A dispatch attempt should follow it.
    fn next_timer(&self, _state: &QueueState) -> Option<Nanos> {
        None
    }

    /// The timer of [`next_timer`](Self::next_timer) fires: the scheduler must disarm or advance
    /// it.
    fn run_timer(&mut self, _state: &mut QueueState) {}

    /// Write `text` to a tunable, as to its file in `queue/iosched`.
    ///
    /// # Errors
    ///
    /// A [`TunableError`] if the scheduler has no such tunable or the text is not a number.
    fn tune(&mut self, _state: &QueueState, name: &str, _text: &str) -> Result<(), TunableError> {
        Err(TunableError::unknown(self.name(), name, &[]))
    }
}
