//! Worker thread of a pool and the state shared by all workers.

use std::marker::PhantomData;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;

/// Reason why a worker ended early.
#[derive(Debug)]
pub enum Halt<E> {
    /// The worker failed.
    Fault(E),
    /// Another worker failed, or the caller stopped the pool.
    Cancelled,
}

/// Message from a worker to the coordinator.
pub(crate) enum Event {
    /// The worker is prepared and waits at the gate.
    Ready,
    /// The worker with this index has failed.
    Failed(usize),
}

impl<E> From<E> for Halt<E> {
    fn from(fault: E) -> Self {
        Self::Fault(fault)
    }
}

/// Progress counter in its own cache line, to avoid false sharing.
#[repr(align(128))]
struct Counter(AtomicU64);

pub(crate) struct Shared {
    /// Set by the first fault, or by the caller.
    stop: AtomicBool,
    /// Write-locked until every worker is ready to start.
    pub(crate) gate: RwLock<()>,
    progress: Vec<Counter>,
}

impl Shared {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            stop: AtomicBool::new(false),
            gate: RwLock::new(()),
            progress: (0..workers).map(|_| Counter(AtomicU64::new(0))).collect(),
        }
    }

    pub(crate) fn workers(&self) -> usize {
        self.progress.len()
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn progress(&self) -> u64 {
        self.progress
            .iter()
            .map(|d| d.0.load(Ordering::Relaxed))
            .sum()
    }
}

/// Handle that a worker's function uses to talk to its pool.
pub struct Worker<'a, E> {
    shared: &'a Shared,
    index: usize,
    sender: Sender<Event>,
    fault: PhantomData<fn() -> E>,
}

impl<'a, E> Worker<'a, E> {
    pub(crate) fn new(shared: &'a Shared, index: usize, sender: Sender<Event>) -> Self {
        Self {
            shared,
            index,
            sender,
            fault: PhantomData,
        }
    }

    /// Index of this worker, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Wait until every worker is ready. Call it once, before the timed part.
    pub fn wait_for_start(&self) {
        // Sending cannot fail: the coordinator receives until the last sender is dropped.
        let _ = self.sender.send(Event::Ready);
        drop(self.shared.gate.read());
    }

    /// Return an error if the pool is stopping. Call it before every unit of work.
    ///
    /// # Errors
    ///
    /// `Halt::Cancelled` if the pool is stopping.
    #[inline]
    pub fn check_stop(&self) -> Result<(), Halt<E>> {
        if self.shared.is_stopping() {
            Err(Halt::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Set the total progress of this worker, in the unit of its pool.
    #[inline]
    pub fn report_progress(&self, total: u64) {
        self.shared.progress[self.index]
            .0
            .store(total, Ordering::Relaxed);
    }

    /// Stop the other workers if this one has failed.
    pub(crate) fn finish<T>(&self, outcome: &Result<T, Halt<E>>) {
        if let Err(Halt::Fault(_)) = outcome {
            let _ = self.sender.send(Event::Failed(self.index));
        }
        if outcome.is_err() {
            self.shared.stop();
        }
    }
}

impl<E> Drop for Worker<'_, E> {
    /// A worker that panics never reaches the gate; without a stop the others would wait forever.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.stop();
        }
    }
}
