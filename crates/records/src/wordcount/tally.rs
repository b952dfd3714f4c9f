//! How many words there were, and which, as numbers that do not depend on their order.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// Equal tallies of two texts mean the same words as many times, but for one chance in 2^64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many words.
    pub words: u64,
    /// The sum of the hashes of all words, each as often as it occurs, modulo 2^64.
    pub checksum: u64,
}

impl Tally {
    /// A word of that hash has occurred so many times more.
    #[inline]
    pub(crate) fn count(&mut self, hash: u64, times: u64) {
        self.words += times;
        self.checksum = self.checksum.wrapping_add(hash.wrapping_mul(times));
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} words with checksum {:016x}",
            self.words, self.checksum
        )
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            words: self.words + other.words,
            checksum: self.checksum.wrapping_add(other.checksum),
        }
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), |sum, tally| sum + tally)
    }
}
