//! Coordination of running workers by the calling thread.

use std::sync::RwLockWriteGuard;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use crate::worker::{Event, Halt, Shared};
use crate::{Error, TICK_INTERVAL};

pub(crate) struct Coordinator<'a, T, E> {
    shared: &'a Shared,
    closed_gate: Option<RwLockWriteGuard<'a, ()>>,
    ready_workers: usize,
    outputs: Vec<Option<T>>,
    first_fault: Option<(usize, E)>,
}

impl<'a, T, E> Coordinator<'a, T, E> {
    pub(crate) fn new(shared: &'a Shared, closed_gate: RwLockWriteGuard<'a, ()>) -> Self {
        Self {
            shared,
            closed_gate: Some(closed_gate),
            ready_workers: 0,
            outputs: (0..shared.workers()).map(|_| None).collect(),
            first_fault: None,
        }
    }

    /// Handle worker events and call `tick` until every worker has ended.
    pub(crate) fn wait_for_workers(
        mut self,
        events: &Receiver<Event<T, E>>,
        mut tick: impl FnMut(u64) -> bool,
    ) -> Result<Vec<T>, Error<E>> {
        let mut tick_at = Instant::now() + TICK_INTERVAL;
        loop {
            if self.ready_workers == self.outputs.len() || self.shared.is_stopping() {
                self.closed_gate = None;
            }
            match events.recv_timeout(tick_at.saturating_duration_since(Instant::now())) {
                Ok(event) => self.handle(event),
                Err(RecvTimeoutError::Disconnected) => return self.into_result(),
                Err(RecvTimeoutError::Timeout) => {
                    if !self.shared.is_stopping() && !tick(self.shared.progress()) {
                        self.shared.stop();
                    }
                    tick_at = Instant::now() + TICK_INTERVAL;
                }
            }
        }
    }

    fn handle(&mut self, event: Event<T, E>) {
        match event {
            Event::Ready => self.ready_workers += 1,
            Event::Finished(worker, Ok(output)) => self.outputs[worker] = Some(output),
            Event::Finished(_, Err(Halt::Cancelled)) => {}
            Event::Finished(worker, Err(Halt::Fault(fault))) => {
                self.first_fault.get_or_insert((worker, fault));
            }
        }
    }

    fn into_result(self) -> Result<Vec<T>, Error<E>> {
        if let Some((worker, fault)) = self.first_fault {
            return Err(Error::Fault { worker, fault });
        }
        let complete: Option<Vec<T>> = self.outputs.into_iter().collect();
        complete.ok_or(Error::Stopped)
    }
}
