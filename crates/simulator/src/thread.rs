//! Threads of a job and what they do.

use iostudy_pattern::Record;
use iostudy_schedulers::{Nanos, Priority};

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
            then: 0,
        }
    }

    /// Bytes of all pieces.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len as u64).sum()
    }
}

/// What a thread does, one operation after the other.
pub trait Source: Send {
    /// The next operation at `elapsed` from the start of the job; none at the end.
    fn next(&mut self, elapsed: Nanos) -> Option<Operation>;
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
