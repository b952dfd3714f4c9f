//! Requests of a host and their completions.

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
    #[must_use]
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
