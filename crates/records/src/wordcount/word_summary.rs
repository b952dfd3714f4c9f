//! Order-independent summary of words: count and checksum.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// Two texts with equal summaries have the same words, except with probability 2^-64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WordSummary {
    /// Number of words.
    pub words: u64,
    /// Sum of the hashes of all words modulo 2^64.
    pub checksum: u64,
}

impl WordSummary {
    /// Add `times` occurrences of a word with this hash.
    #[inline]
    pub(crate) fn count(&mut self, hash: u64, times: u64) {
        self.words += times;
        self.checksum = self.checksum.wrapping_add(hash.wrapping_mul(times));
    }
}

impl fmt::Display for WordSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} words with checksum {:016x}",
            self.words, self.checksum
        )
    }
}

impl Add for WordSummary {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            words: self.words + other.words,
            checksum: self.checksum.wrapping_add(other.checksum),
        }
    }
}

impl Sum for WordSummary {
    fn sum<I: Iterator<Item = Self>>(summaries: I) -> Self {
        summaries.fold(Self::default(), |sum, summary| sum + summary)
    }
}
