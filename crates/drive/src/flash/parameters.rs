//! Parameters of a flash drive.

use serde::Deserialize;

use crate::request::Nanos;

/// Cache of single-level cells that receives writes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// Bytes that it can hold.
    pub bytes: u64,
    /// Time to program a page.
    pub program: Nanos,
    /// Idle time before its data move to the other cells.
    pub idle: Nanos,
}

/// A flash drive.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashParameters {
    /// Blocks of the host.
    pub capacity: u64,
    /// Channels.
    pub channels: u32,
    /// Dies on a channel.
    pub dies: u32,
    /// Bytes in a page, the unit of programming.
    pub page_bytes: u64,
    /// Pages in an erase block.
    pub pages: u32,
    /// Bytes of a mapping unit; a page holds a whole number of them.
    pub unit_bytes: u64,
    /// Space beyond the capacity, as a share of the capacity.
    pub over_provisioning: f64,
    /// Time to read a page.
    pub read: Nanos,
    /// Time to program a page.
    pub program: Nanos,
    /// Time to erase a block.
    pub erase: Nanos,
    /// Time to transfer a page over a channel.
    pub page_transfer: Nanos,
    /// Time to transfer a block between host and drive.
    pub block_transfer: Nanos,
    /// Processing time of a command.
    pub command: Nanos,
    /// Bytes of the write buffer.
    pub buffer_bytes: u64,
    /// Whether the write buffer survives a loss of power, so that a flush does not wait.
    pub protected_buffer: bool,
    /// Cache of single-level cells that receives writes first.
    pub slc: Option<SlcCache>,
    /// Most commands in the drive.
    pub depth: usize,
}
