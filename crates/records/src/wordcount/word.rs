//! Words of a text with hash and prefix, and the summary of many.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Bytes compared at once; most words are not longer.
pub(crate) const PREFIX_BYTES: usize = 16;

/// Masks of the first bytes for each word length.
const PREFIX_MASKS: [[u64; 2]; PREFIX_BYTES + 1] = prefix_masks();

/// Word with its prefix and hash.
#[derive(Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) letters: &'a [u8],
    /// First bytes as big-endian numbers, zero-padded.
    pub(crate) prefix: [u64; 2],
    pub(crate) hash: u64,
}

impl<'a> Word<'a> {
    /// Placeholder.
    pub(crate) const NONE: Self = Self {
        letters: &[],
        prefix: [0; 2],
        hash: 0,
    };

    /// Create a word of a text. It branches only on long words, because branches on the length are
    /// mispredicted.
    #[inline]
    pub(crate) fn within(text: &'a [u8], (start, end): (usize, usize)) -> Self {
        let letters = &text[start..end];
        let head = text[start..].first_chunk();
        let prefix = prefix(
            head.copied().unwrap_or_else(|| padded(letters)),
            end - start,
        );
        Self {
            letters,
            prefix,
            hash: hash(letters, prefix),
        }
    }

    /// Create a word without surrounding text.
    #[inline]
    pub(crate) fn alone(letters: &'a [u8]) -> Self {
        Self::within(letters, (0, letters.len()))
    }

    /// Bytes after the prefix.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.letters[self.letters.len().min(PREFIX_BYTES)..]
    }
}

/// Prefix with the bytes behind the word masked out.
#[inline]
#[allow(clippy::cast_possible_truncation)] // splits into halves
fn prefix(head: [u8; PREFIX_BYTES], len: usize) -> [u64; 2] {
    let head = u128::from_be_bytes(head);
    let [first, second] = PREFIX_MASKS[len.min(PREFIX_BYTES)];
    [(head >> 64) as u64 & first, head as u64 & second]
}

/// Hash of a word for the table and for checksums.
///
/// 64-bit XXH3 with stable values: <https://github.com/Cyan4973/xxHash>. A short word is hashed
/// zero-padded with its length as the seed.
#[inline]
fn hash(letters: &[u8], [first, second]: [u64; 2]) -> u64 {
    if letters.len() > PREFIX_BYTES {
        return hash_long(letters);
    }
    let prefix = (u128::from(first) << 64) | u128::from(second);
    xxh3_64_with_seed(&prefix.to_le_bytes(), letters.len() as u64)
}

#[cold]
fn hash_long(letters: &[u8]) -> u64 {
    xxh3_64(letters)
}

#[cold]
fn padded(letters: &[u8]) -> [u8; PREFIX_BYTES] {
    let mut head = [0; PREFIX_BYTES];
    let len = letters.len().min(PREFIX_BYTES);
    head[..len].copy_from_slice(&letters[..len]);
    head
}

#[allow(clippy::cast_possible_truncation)] // splits into halves
const fn prefix_masks() -> [[u64; 2]; PREFIX_BYTES + 1] {
    let mut masks = [[u64::MAX; 2]; PREFIX_BYTES + 1];
    let mut len = 0;
    while len < PREFIX_BYTES {
        let bits = !(u128::MAX >> (8 * len));
        masks[len] = [(bits >> 64) as u64, bits as u64];
        len += 1;
    }
    masks
}

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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_that_differ_in_zeros_at_their_end_differ_in_their_hash() {
        let zeros = [0; 40];
        let hash = |len| Word::alone(&zeros[..len]).hash;
        let hashes: HashSet<u64> = (1..=zeros.len()).map(hash).collect();
        assert_eq!(hashes.len(), zeros.len());
    }

    proptest! {
        #[test]
        fn a_prefix_is_the_first_bytes_and_zeros(word in prop::collection::vec(any::<u8>(), 1..40)) {
            let mut first = [0; PREFIX_BYTES];
            let len = word.len().min(PREFIX_BYTES);
            first[..len].copy_from_slice(&word[..len]);
            let [one, other] = Word::alone(&word).prefix.map(u64::to_be_bytes);
            prop_assert_eq!([one, other].concat(), first);
        }

        #[test]
        fn a_word_is_the_same_wherever_it_lies(
            text in prop::collection::vec(any::<u8>(), 1..80),
            ends in any::<(prop::sample::Index, prop::sample::Index)>(),
        ) {
            let (one, other) = (ends.0.index(text.len()), ends.1.index(text.len()));
            let (start, end) = (one.min(other), one.max(other) + 1);
            let (there, alone) = (Word::within(&text, (start, end)), Word::alone(&text[start..end]));
            prop_assert_eq!(there.letters, alone.letters);
            prop_assert_eq!(there.prefix, alone.prefix);
            prop_assert_eq!(there.hash, alone.hash);
        }
    }
}
