//! The calling thread while the others work: it opens the gate, listens, and asks its caller.

use std::sync::RwLockWriteGuard;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::error::{Error, Fault, Halt};
use crate::file::FileTimes;
use crate::result::JobResult;
use crate::shared::Shared;

/// How often the caller is asked whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// What a thread tells the attendant.
pub(crate) enum Event {
    /// Its buffers are made; it waits at the gate.
    Ready,
    /// The thread of that file has done all it will do.
    Ended(usize, Result<FileTimes, Halt>),
}

pub(crate) struct Attendant<'a> {
    shared: &'a Shared<'a>,
    closed_gate: Option<RwLockWriteGuard<'a, ()>>,
    waiting: usize,
    times: Vec<Option<FileTimes>>,
    first_fault: Option<(usize, Fault)>,
}

impl<'a> Attendant<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>, closed_gate: RwLockWriteGuard<'a, ()>) -> Self {
        Self {
            shared,
            closed_gate: Some(closed_gate),
            waiting: 0,
            times: shared.job.paths.iter().map(|_| None).collect(),
            first_fault: None,
        }
    }

    /// Listen until every thread has ended.
    pub(crate) fn attend(
        mut self,
        events: &Receiver<Event>,
        mut keep_going: impl FnMut() -> bool,
    ) -> Result<JobResult, Error> {
        let mut ask_at = Instant::now() + ASK_EVERY;
        loop {
            if self.waiting == self.times.len() || self.stopping() {
                self.closed_gate = None;
            }
            match events.recv_timeout(ask_at.saturating_duration_since(Instant::now())) {
                Ok(event) => self.note(event),
                Err(RecvTimeoutError::Disconnected) => return self.conclude(),
                Err(RecvTimeoutError::Timeout) => {
                    if !self.stopping() && !keep_going() {
                        self.shared.stop.store(true, Ordering::Relaxed);
                    }
                    ask_at = Instant::now() + ASK_EVERY;
                }
            }
        }
    }

    fn stopping(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Ready => self.waiting += 1,
            Event::Ended(file, Ok(times)) => self.times[file] = Some(times),
            Event::Ended(_, Err(Halt::Told)) => {}
            Event::Ended(file, Err(Halt::Fault(fault))) => {
                self.first_fault.get_or_insert((file, fault));
            }
        }
    }

    fn conclude(self) -> Result<JobResult, Error> {
        let job = self.shared.job;
        if let Some((file, fault)) = self.first_fault {
            return Err(Error::File {
                path: job.paths[file].clone(),
                fault,
            });
        }
        let times: Option<Vec<FileTimes>> = self.times.into_iter().collect();
        times
            .map(|times| JobResult::gather(job.file_bytes, &times))
            .ok_or(Error::Stopped)
    }
}
