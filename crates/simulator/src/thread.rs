//! Jobs, their threads, and what these do.

use iostudy_pattern::Record;
use iostudy_schedulers::{Nanos, Priority};

use crate::figures::PhaseFigures;

/// Kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Read all pieces.
    Read,
    /// Write all pieces.
    Write,
    /// Carry the dirty pages of the file to the medium.
    Sync,
}

/// One operation of a thread, whose latency counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Kind.
    pub kind: Kind,
    /// File.
    pub file: usize,
    /// Parts of the file, one after the other; none for a sync.
    pub pieces: Vec<Record>,
    /// Whether it bypasses the page cache.
    pub direct: bool,
    /// Whether a write ends with a sync.
    pub durable: bool,
    /// Whether calls and pages take processor time; else all of it is in `then`.
    pub costs_calls: bool,
    /// Time that the thread computes or waits afterwards.
    pub then: Nanos,
}

impl Operation {
    /// A sync of `file`.
    #[must_use]
    pub const fn sync(file: usize) -> Self {
        Self {
            kind: Kind::Sync,
            file,
            pieces: Vec::new(),
            direct: false,
            durable: false,
            costs_calls: true,
            then: 0,
        }
    }

    /// A buffered read or write of one piece.
    #[must_use]
    pub fn call(kind: Kind, file: usize, piece: Record) -> Self {
        Self {
            kind,
            pieces: vec![piece],
            ..Self::sync(file)
        }
    }

    /// Bytes of all pieces.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len as u64).sum()
    }
}

/// What a thread does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An operation.
    Run(Operation),
    /// Wait until every other thread of the job waits or has ended.
    AwaitOthers,
    /// Nothing more.
    End,
}

/// What a thread does, one step after the other.
pub trait Source: Send {
    /// The next step at `elapsed` from the start of the job.
    fn next(&mut self, elapsed: Nanos) -> Step;

    /// Figures of the phases of a thread that has ended; none without phases.
    fn phases(&mut self) -> Vec<PhaseFigures> {
        Vec::new()
    }
}

/// A thread of the job.
pub struct Thread {
    /// Its operations.
    pub source: Box<dyn Source>,
    /// Operations that it keeps outstanding.
    pub outstanding: u32,
    /// Time of its start.
    pub start: Nanos,
    /// I/O priority.
    pub priority: Priority,
}

/// Threads that begin together.
pub struct Job {
    /// Makes the threads of a round: in each as many.
    pub threads: Box<dyn FnMut() -> Vec<Thread> + Send>,
    /// Its files: rounds after the first find nothing of them in the page cache.
    pub files: Vec<usize>,
    /// Discarded time at the start of a round.
    pub ramp: Nanos,
    /// Whether it repeats until all jobs that do not repeat have ended, which stops it.
    pub repeats: bool,
}

impl Job {
    /// A job of one round.
    #[must_use]
    pub fn once(threads: Vec<Thread>, ramp: Nanos) -> Self {
        let mut threads = Some(threads);
        Self {
            threads: Box::new(move || threads.take().unwrap_or_default()),
            files: Vec::new(),
            ramp,
            repeats: false,
        }
    }
}
