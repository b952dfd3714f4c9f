//! The noop scheduler: requests in the order of their arrival (specification, section 1).

use crate::request::RequestId;
use crate::request_set::Fifo;
use crate::scheduler::Scheduler;
use crate::state::QueueState;

/// State of noop.
#[derive(Debug, Default)]
pub struct Noop {
    fifo: Fifo,
}

impl Noop {
    /// The scheduler for an empty queue.
    pub fn build(_state: &QueueState) -> Box<dyn Scheduler> {
        Box::new(Self::default())
    }
}

impl Scheduler for Noop {
    fn name(&self) -> &'static str {
        "noop"
    }

    fn previous_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        Fifo::previous(&state.requests, request)
    }

    fn next_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        Fifo::next(&state.requests, request)
    }

    fn joined(&mut self, state: &mut QueueState, _survivor: RequestId, absorbed: RequestId) {
        self.fifo.remove(&mut state.requests, absorbed);
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        self.fifo.push(&mut state.requests, id);
    }

    fn dispatch(&mut self, state: &mut QueueState) {
        if let Some(id) = self.fifo.pop(&mut state.requests) {
            state.dispatch_sorted(id);
        }
    }
}
