//! The calling thread while the others work: it opens the gate, listens, and asks its caller.

use std::sync::RwLockWriteGuard;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use crate::member::{Halt, Shared};
use crate::{ASK_EVERY, Error};

/// What a member tells the attendant.
pub(crate) enum Event<T, E> {
    /// It has what it needs; it waits at the gate.
    Ready,
    /// That member has done all it will do.
    Ended(usize, Result<T, Halt<E>>),
}

pub(crate) struct Attendant<'a, T, E> {
    shared: &'a Shared,
    closed_gate: Option<RwLockWriteGuard<'a, ()>>,
    waiting: usize,
    made: Vec<Option<T>>,
    first_fault: Option<(usize, E)>,
}

impl<'a, T, E> Attendant<'a, T, E> {
    pub(crate) fn new(shared: &'a Shared, closed_gate: RwLockWriteGuard<'a, ()>) -> Self {
        Self {
            shared,
            closed_gate: Some(closed_gate),
            waiting: 0,
            made: (0..shared.members()).map(|_| None).collect(),
            first_fault: None,
        }
    }

    /// Listen until every thread has ended.
    pub(crate) fn attend(
        mut self,
        events: &Receiver<Event<T, E>>,
        mut tick: impl FnMut(u64) -> bool,
    ) -> Result<Vec<T>, Error<E>> {
        let mut ask_at = Instant::now() + ASK_EVERY;
        loop {
            if self.waiting == self.made.len() || self.shared.stopping() {
                self.closed_gate = None;
            }
            match events.recv_timeout(ask_at.saturating_duration_since(Instant::now())) {
                Ok(event) => self.note(event),
                Err(RecvTimeoutError::Disconnected) => return self.conclude(),
                Err(RecvTimeoutError::Timeout) => {
                    if !self.shared.stopping() && !tick(self.shared.done()) {
                        self.shared.stop();
                    }
                    ask_at = Instant::now() + ASK_EVERY;
                }
            }
        }
    }

    fn note(&mut self, event: Event<T, E>) {
        match event {
            Event::Ready => self.waiting += 1,
            Event::Ended(member, Ok(made)) => self.made[member] = Some(made),
            Event::Ended(_, Err(Halt::Told)) => {}
            Event::Ended(member, Err(Halt::Fault(fault))) => {
                self.first_fault.get_or_insert((member, fault));
            }
        }
    }

    fn conclude(self) -> Result<Vec<T>, Error<E>> {
        if let Some((member, fault)) = self.first_fault {
            return Err(Error::Fault { member, fault });
        }
        let made: Option<Vec<T>> = self.made.into_iter().collect();
        made.ok_or(Error::Stopped)
    }
}
