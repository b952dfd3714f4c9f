//! Results of the jobs.

use std::time::Duration;

use super::row::Checksum;
use crate::meter::CallStats;

/// Measurements of every job.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Number of rows.
    pub rows: u64,
    /// Checksum of all rows; none of a simulated job, which has none.
    pub checksum: Option<Checksum>,
    /// Time from the first file access to the last rename.
    pub wall: Duration,
    /// Read and write calls.
    pub call_stats: CallStats,
}

/// Measurements of a sort.
#[derive(Debug, Clone)]
pub struct SortOutcome {
    /// Measurements of every job.
    pub outcome: Outcome,
    /// Time of sampling and of the spill phase.
    pub spill: Duration,
    /// Time of the merge phase, including renames.
    pub merge: Duration,
    /// Bytes written to and read from each spill folder.
    pub spilled_bytes: Vec<u64>,
    /// The most that buffers and tables took at a time.
    pub memory_bytes: u64,
}
