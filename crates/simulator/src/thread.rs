//! Jobs, their threads, and what these do.

use iostudy_pattern::Record;
use iostudy_schedulers::{Nanos, Priority};

use crate::figures::{PhaseFigures, TimedStep};

/// Kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Read all pieces.
    Read,
    /// Write all pieces.
    Write,
    /// Write the dirty pages of the pieces; of the whole file if there are no pieces.
    Sync,
    /// Wait until the last changes of the pieces are in the journal; of the whole file if there are
    /// no pieces.
    Commit,
}

/// One operation of a thread, whose latency counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Kind.
    pub kind: Kind,
    /// File.
    pub file: usize,
    /// Parts of the file, one after the other.
    pub pieces: Vec<Record>,
    /// Whether it bypasses the page cache.
    pub direct: bool,
    /// Whether all dirty pages of the file are written at its end, and the drive is flushed.
    pub durable: bool,
    /// Whether calls and pages take processor time; else all of it is in `then`.
    pub costs_calls: bool,
    /// Time that the thread computes or waits afterwards.
    pub then: Nanos,
}

impl Operation {
    /// An operation on `file` without pieces, which is not durable.
    pub const fn new(kind: Kind, file: usize) -> Self {
        Self {
            kind,
            file,
            pieces: Vec::new(),
            direct: false,
            durable: false,
            costs_calls: true,
            then: 0,
        }
    }

    /// A sync of `file` with a flush of the drive.
    pub fn sync(file: usize) -> Self {
        Self {
            durable: true,
            ..Self::new(Kind::Sync, file)
        }
    }

    /// A buffered read or write of one piece.
    pub fn call(kind: Kind, file: usize, piece: Record) -> Self {
        Self {
            pieces: vec![piece],
            ..Self::new(kind, file)
        }
    }

    /// Bytes of all pieces.
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

    /// Times of the steps of a thread that has ended; none without a script.
    fn timed_steps(&mut self) -> Vec<TimedStep> {
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
