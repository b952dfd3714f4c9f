//! One thread of a crew, and what it shares with the others.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use crate::attendant::Event;

/// Why a member ended before its work did.
#[derive(Debug)]
pub enum Halt<E> {
    /// Something went wrong.
    Fault(E),
    /// Another member failed, or the caller asked to stop.
    Told,
}

impl<E> From<E> for Halt<E> {
    fn from(fault: E) -> Self {
        Self::Fault(fault)
    }
}

/// A count in a cache line of its own, so that members do not slow each other down.
#[repr(align(128))]
struct Done(AtomicU64);

pub(crate) struct Shared {
    /// Told to everyone by the first fault, or by the caller.
    stop: AtomicBool,
    /// Held for writing until every member is ready to start.
    pub(crate) gate: RwLock<()>,
    done: Vec<Done>,
}

impl Shared {
    pub(crate) fn new(members: usize) -> Self {
        Self {
            stop: AtomicBool::new(false),
            gate: RwLock::new(()),
            done: (0..members).map(|_| Done(AtomicU64::new(0))).collect(),
        }
    }

    pub(crate) fn members(&self) -> usize {
        self.done.len()
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn done(&self) -> u64 {
        self.done.iter().map(|d| d.0.load(Ordering::Relaxed)).sum()
    }
}

/// A thread of a crew, as its work sees it.
pub struct Member<'a, T, E> {
    shared: &'a Shared,
    index: usize,
    sender: Sender<Event<T, E>>,
}

impl<'a, T, E> Member<'a, T, E> {
    pub(crate) fn new(shared: &'a Shared, index: usize, sender: Sender<Event<T, E>>) -> Self {
        Self {
            shared,
            index,
            sender,
        }
    }

    /// Which member it is, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Wait until every member is ready. To be called once, before what is timed.
    pub fn ready(&self) {
        // Sending cannot fail: the attendant listens until the last sender is gone.
        let _ = self.sender.send(Event::Ready);
        drop(self.shared.gate.read());
    }

    /// To be asked before every piece of work.
    ///
    /// # Errors
    ///
    /// `Halt::Told` when everybody is to stop.
    #[inline]
    pub fn go_on(&self) -> Result<(), Halt<E>> {
        if self.shared.stopping() {
            Err(Halt::Told)
        } else {
            Ok(())
        }
    }

    /// So much has this member done in all, in whatever unit its crew counts.
    #[inline]
    pub fn has_done(&self, total: u64) {
        self.shared.done[self.index]
            .0
            .store(total, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self, outcome: Result<T, Halt<E>>) {
        let _ = self.sender.send(Event::Ended(self.index, outcome));
    }
}

impl<T, E> Drop for Member<'_, T, E> {
    /// A member that panics never gets ready; the others would wait for it for ever.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.stop();
        }
    }
}
