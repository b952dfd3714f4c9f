//! Interface of all schedulers.

use crate::clock::Nanos;
use crate::merge::{MergeSide, MergeTarget};
use crate::request::{Bio, ProcessId, RequestId};
use crate::state::QueueState;
use crate::tunables::{TunableError, TunableInfo};

/// An I/O scheduler as a state machine. A [`RequestQueue`](crate::RequestQueue) calls it.
///
/// The scheduler owns the order of its requests; the [`QueueState`] owns the requests. `state.now`
/// is the time of each call and never goes back.
pub trait Scheduler: Send {
    /// Name as in `queue/scheduler`.
    fn name(&self) -> &'static str;

    /// Whether a request for `bio` may be allocated now. The default is that of the legacy block
    /// layer: `nr_requests` sync and as many async requests.
    fn may_allocate(&self, state: &QueueState, bio: &Bio) -> bool {
        let queue = state.hardware_queue(bio.cpu);
        state.allocated(queue, bio.is_sync()) < state.settings.nr_requests
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
                let request = self.front_merge(state, bio)?;
                let fits = state.fit_together(request, bio) && permits(request);
                let side = MergeSide::Front;
                fits.then_some(MergeTarget { request, side })
            })
    }

    /// A request that begins where `bio` ends, from the scheduler's own set.
    fn front_merge(&self, _state: &QueueState, _bio: &Bio) -> Option<RequestId> {
        None
    }

    /// Whether `bio` may join `request`, which is adjacent and has room.
    fn permits_merge(&self, _state: &QueueState, _request: RequestId, _bio: &Bio) -> bool {
        true
    }

    /// `request` has grown at its front; it began at `old_start`.
    fn front_merged(&mut self, _state: &mut QueueState, _request: RequestId, _old_start: u64) {}

    /// The request before `request` in the scheduler's order, to join them if they touch.
    fn previous_request(&self, _state: &QueueState, _request: RequestId) -> Option<RequestId> {
        None
    }

    /// The request after `request` in the scheduler's order, to join them if they touch.
    fn next_request(&self, _state: &QueueState, _request: RequestId) -> Option<RequestId> {
        None
    }

    /// Remove `absorbed`, which joins `survivor`. The requests have not grown yet.
    fn joined(&mut self, _state: &mut QueueState, _survivor: RequestId, _absorbed: RequestId) {}

    /// Accept a new request.
    fn insert(&mut self, state: &mut QueueState, id: RequestId);

    /// Move the next requests to the dispatch list of `hardware_queue` with
    /// [`QueueState::dispatch_append`] or [`QueueState::dispatch_sorted`], or none.
    ///
    /// The queue calls it when the dispatch list is empty and the device accepts a command.
    fn dispatch(&mut self, state: &mut QueueState, hardware_queue: usize);

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

    /// `process` ends and submits no further requests.
    fn exit_process(&mut self, _state: &mut QueueState, _process: ProcessId) {}

    /// The tunables in `queue/iosched`.
    fn tunables(&self) -> Vec<TunableInfo> {
        Vec::new()
    }

    /// Value of a tunable as its file in `queue/iosched` shows it, without the newline.
    ///
    /// # Errors
    ///
    /// [`TunableError::Unknown`] if the scheduler has no such tunable.
    fn read_tunable(&self, _state: &QueueState, name: &str) -> Result<String, TunableError> {
        Err(TunableError::unknown(self.name(), name, &[]))
    }

    /// Write `text` to a tunable, as to its file in `queue/iosched`.
    ///
    /// # Errors
    ///
    /// A [`TunableError`] if the scheduler has no such tunable or the text is not a number.
    fn write_tunable(
        &mut self,
        _state: &mut QueueState,
        name: &str,
        _text: &str,
    ) -> Result<(), TunableError> {
        Err(TunableError::unknown(self.name(), name, &[]))
    }
}
