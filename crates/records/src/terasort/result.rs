//! What the jobs measured.

use std::time::Duration;

use super::row::Checksum;
use crate::meter::Calls;

/// What generating measured.
#[derive(Debug, Clone)]
pub struct Generated {
    /// Of all rows.
    pub checksum: Checksum,
    /// From the first file made to the last one finished.
    pub wall: Duration,
    /// Every call that wrote.
    pub calls: Calls,
}

/// What sorting measured.
#[derive(Debug, Clone)]
pub struct Sorted {
    /// Of all rows that were written.
    pub checksum: Checksum,
    /// From the first look at the input to the last part in its place.
    pub wall: Duration,
    /// Of it, sampling, and reading, sorting and spilling chunks.
    pub spill: Duration,
    /// Of it, merging the runs and writing the parts.
    pub merge: Duration,
    /// Written to, and read from, each of the spill folders.
    pub spilled_bytes: Vec<u64>,
    /// The most that its buffers and tables took at a time.
    pub memory_bytes: u64,
    /// Every call that read or wrote.
    pub calls: Calls,
}

/// What validating measured.
#[derive(Debug, Clone)]
pub struct Validated {
    /// How many there are.
    pub rows: u64,
    /// Of all rows.
    pub checksum: Checksum,
    /// From the first look at the parts to the last row.
    pub wall: Duration,
    /// Every call that read.
    pub calls: Calls,
}
