//! Source of a thread that works on the items of a job, phase by phase.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use iostudy_schedulers::{Nanos, Priority};

use crate::figures::PhaseFigures;
use crate::thread::{Operation, Source, Step, Thread};

/// Operations of an item.
pub type Operations = Box<dyn Iterator<Item = Operation> + Send>;

/// Division of the items of a phase among the workers.
#[derive(Debug)]
pub enum Division {
    /// A queue of this many items: a worker that has nothing to do takes the next one.
    Queue(u64),
    /// Each worker has this many of its own.
    Own(u64),
}

/// An item that a worker begins.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// Its number in the queue, or among those of the worker.
    pub number: u64,
    /// The worker.
    pub worker: usize,
    /// Time from the start of the job.
    pub elapsed: Nanos,
}

/// A phase of a job.
pub struct Phase {
    division: Division,
    /// Number of workers that take part.
    workers: usize,
    /// Operations of an item.
    operations: Box<dyn Fn(Item) -> Operations + Send + Sync>,
    /// First item of the queue that nobody has taken.
    next: AtomicU64,
}

impl Phase {
    /// A phase of `workers`, with the operations of an item.
    pub fn new(
        division: Division,
        workers: usize,
        operations: impl Fn(Item) -> Operations + Send + Sync + 'static,
    ) -> Self {
        Self {
            division,
            workers,
            operations: Box::new(operations),
            next: AtomicU64::new(0),
        }
    }

    /// A phase of the first worker alone, with one item.
    pub fn alone(operations: impl Fn() -> Operations + Send + Sync + 'static) -> Self {
        Self::new(Division::Queue(1), 1, move |_| operations())
    }

    /// The next item of a worker that has had `taken` in this phase.
    fn take(&self, worker: usize, taken: u64) -> Option<u64> {
        if worker >= self.workers {
            return None;
        }
        let (item, items) = match self.division {
            Division::Queue(items) => (self.next.fetch_add(1, Ordering::Relaxed), items),
            Division::Own(items) => (taken, items),
        };
        (item < items).then_some(item)
    }
}

/// The threads of `number` workers, of which each begins at `start` of its number.
///
/// A phase begins when all workers have ended the one before.
pub fn workers(number: usize, phases: Vec<Phase>, start: impl Fn(usize) -> Nanos) -> Vec<Thread> {
    let phases = Arc::new(phases);
    let thread = |number| Thread {
        source: Box::new(Worker::new(Arc::clone(&phases), number)),
        outstanding: 1,
        start: start(number),
        priority: Priority::default(),
    };
    (0..number).map(thread).collect()
}

/// A worker.
pub struct Worker {
    phases: Arc<Vec<Phase>>,
    number: usize,
    phase: usize,
    /// Items that it has taken in this phase.
    taken: u64,
    /// The item under way, and the time of its start.
    item: Option<(Operations, Nanos)>,
    figures: Vec<PhaseFigures>,
}

impl Worker {
    fn new(phases: Arc<Vec<Phase>>, number: usize) -> Self {
        Self {
            phases,
            number,
            phase: 0,
            taken: 0,
            item: None,
            figures: Vec::new(),
        }
    }

    fn end_item(&mut self, elapsed: Nanos) {
        if let (Some((_, began)), Some(figures)) = (self.item.take(), self.figures.last_mut()) {
            let time = Duration::from_nanos(elapsed - began);
            iostudy_latency::record(&mut figures.items, time);
        }
    }

    fn end_phase(&mut self, elapsed: Nanos) {
        if let Some(figures) = self.figures.last_mut() {
            figures.ended = elapsed;
        }
        self.phase += 1;
        self.taken = 0;
    }
}

impl Source for Worker {
    fn next(&mut self, elapsed: Nanos) -> Step {
        let phases = Arc::clone(&self.phases);
        loop {
            if let Some(operation) = self.item.as_mut().and_then(|(item, _)| item.next()) {
                return Step::Run(operation);
            }
            self.end_item(elapsed);
            let Some(phase) = phases.get(self.phase) else {
                return Step::End;
            };
            if self.figures.len() == self.phase {
                self.figures.push(PhaseFigures::new(elapsed));
            }
            let Some(number) = phase.take(self.number, self.taken) else {
                self.end_phase(elapsed);
                return Step::AwaitOthers;
            };
            self.taken += 1;
            let item = Item {
                number,
                worker: self.number,
                elapsed,
            };
            self.item = Some(((phase.operations)(item), elapsed));
        }
    }

    fn phases(&mut self) -> Vec<PhaseFigures> {
        std::mem::take(&mut self.figures)
    }
}
