//! Requests, completions, and reasons why a drive refuses a request.

/// Time on the virtual clock, in nanoseconds from its start.
pub type Nanos = u64;

/// Bytes in a block, the unit of all addresses.
pub const BLOCK_BYTES: u64 = 512;

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Transfers blocks to the host.
    Read,
    /// Transfers blocks from the host.
    Write,
    /// Ends when every write that completed before its submission is on the medium.
    Flush,
}

/// One command of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Identifier chosen by the host, returned with the completion.
    pub id: u64,
    /// Kind of the request.
    pub operation: Operation,
    /// First block.
    pub block: u64,
    /// Number of blocks; 0 for a flush.
    pub blocks: u32,
    /// Force unit access: a write completes only when its blocks are on the medium.
    pub fua: bool,
}

impl Request {
    /// Block after the last one.
    pub const fn end(&self) -> u64 {
        self.block + self.blocks as u64
    }
}

/// Completion of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Completion {
    /// Time of the completion at the host.
    pub at: Nanos,
    /// Identifier of the request.
    pub id: u64,
}

/// Reason for refusing a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The queue is full.
    #[error("the drive's queue holds {depth} commands; wait for a completion")]
    QueueFull {
        /// Commands that the queue can hold.
        depth: usize,
    },
    /// The request has no blocks, or blocks that the drive does not have.
    #[error("blocks {start} to {end} are not on a drive of {blocks} blocks")]
    OutOfRange {
        /// First block.
        start: u64,
        /// Block after the last one.
        end: u64,
        /// Blocks of the drive.
        blocks: u64,
    },
    /// The clock went back.
    #[error("time {time} ns is before {now} ns, the drive's clock")]
    ClockWentBack {
        /// Time of the request.
        time: Nanos,
        /// Time of the drive.
        now: Nanos,
    },
}

impl SubmitError {
    /// Check a request at `time` against the drive's clock `now`, its queue and its `blocks` blocks.
    ///
    /// `queue` is the number of commands in flight and the queue depth.
    pub(crate) fn check(
        time: Nanos,
        now: Nanos,
        queue: (usize, usize),
        request: &Request,
        blocks: u64,
    ) -> Result<(), Self> {
        let (in_flight, depth) = queue;
        let start = request.block;
        let end = start.saturating_add(u64::from(request.blocks));
        let empty = request.blocks == 0 && request.operation != Operation::Flush;
        if time < now {
            Err(Self::ClockWentBack { time, now })
        } else if in_flight >= depth {
            Err(Self::QueueFull { depth })
        } else if empty || end > blocks {
            Err(Self::OutOfRange { start, end, blocks })
        } else {
            Ok(())
        }
    }
}
