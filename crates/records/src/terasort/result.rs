//! What the jobs measured.

use std::time::Duration;

use super::row::Checksum;
use crate::meter::Calls;

/// What every job measures.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How many were made, sorted or checked.
    pub rows: u64,
    /// Of all of them.
    pub checksum: Checksum,
    /// From the first look at a file to the last one in its place.
    pub wall: Duration,
    /// Every call that read or wrote.
    pub calls: Calls,
}

/// What sorting measures beside.
#[derive(Debug, Clone)]
pub struct Sorted {
    /// What every job measures.
    pub outcome: Outcome,
    /// Of the time, that for sampling, and for reading, sorting and spilling chunks.
    pub spill: Duration,
    /// Of the time, that for merging the runs, writing the parts and giving them their names.
    pub merge: Duration,
    /// What each of the spill folders had to hold; it was written once and read once.
    pub spilled_bytes: Vec<u64>,
    /// The most that buffers and tables took at a time.
    pub memory_bytes: u64,
}
