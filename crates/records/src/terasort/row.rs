//! Rows with their keys and checksums, and the results of jobs on them.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;
use std::time::Duration;

use crate::meter::CallStats;

/// Row size in bytes.
pub const ROW_BYTES: usize = 100;

/// Key size in bytes.
pub(crate) const KEY_BYTES: usize = 10;

/// [`ROW_BYTES`] for offsets.
pub(crate) const ROW: u64 = ROW_BYTES as u64;

/// Key of a row as a number in byte order.
#[inline]
pub(crate) fn key(row: &[u8]) -> u128 {
    let high = u64::from_be_bytes(row[..8].try_into().expect("eight bytes"));
    let low = u16::from_be_bytes(row[8..KEY_BYTES].try_into().expect("two bytes"));
    u128::from(high) << u16::BITS | u128::from(low)
}

/// A key as Hadoop's `BytesWritable` prints it: bytes in hexadecimal, with spaces.
pub(crate) fn key_text(key: u128) -> String {
    let bytes = &key.to_be_bytes()[16 - KEY_BYTES..];
    let words: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    words.join(" ")
}

/// Order-independent sum of the CRC-32 of rows, as in `TeraChecksum` and `TeraValidate`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checksum(u128);

impl Checksum {
    #[inline]
    pub(crate) fn add_row(&mut self, row: &[u8]) {
        self.0 += u128::from(crc32fast::hash(row));
    }
}

impl Add for Checksum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sum for Checksum {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{:x}", self.0)
    }
}

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
