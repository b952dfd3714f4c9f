//! A word of a text, and what it is found by.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// So many bytes of a word are looked at in one go; most words have no more.
pub(crate) const PREFIX_BYTES: usize = 16;

/// What remains of the first bytes if a word has so many.
const KEPT: [[u64; 2]; PREFIX_BYTES + 1] = kept();

/// A word that has been looked at.
#[derive(Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) letters: &'a [u8],
    /// The first bytes as numbers that compare as the bytes do; zeros follow a short word.
    pub(crate) prefix: [u64; 2],
    pub(crate) hash: u64,
}

impl<'a> Word<'a> {
    /// In the place of a word where there is none.
    pub(crate) const NONE: Self = Self {
        letters: &[],
        prefix: [0; 2],
        hash: 0,
    };

    /// A word that lies in a text. Its length decides nothing but whether it is a long one: a CPU
    /// that guesses at lengths guesses wrong as often as not.
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

    /// A word with nothing behind it.
    #[inline]
    pub(crate) fn alone(letters: &'a [u8]) -> Self {
        Self::within(letters, (0, letters.len()))
    }

    /// What lies behind the prefix.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.letters[self.letters.len().min(PREFIX_BYTES)..]
    }
}

/// The first bytes without those behind the word.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the halves are taken on purpose
fn prefix(head: [u8; PREFIX_BYTES], len: usize) -> [u64; 2] {
    let head = u128::from_be_bytes(head);
    let [first, second] = KEPT[len.min(PREFIX_BYTES)];
    [(head >> 64) as u64 & first, head as u64 & second]
}

/// The hash of a word: for the table, and for the checksum of a text.
///
/// XXH3 of 64 bits, whose values are fixed: <https://github.com/Cyan4973/xxHash>. A short word is
/// hashed with the zeros behind it, and with its length as the seed that tells it from others.
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

#[allow(clippy::cast_possible_truncation)] // the halves are taken on purpose
const fn kept() -> [[u64; 2]; PREFIX_BYTES + 1] {
    let mut kept = [[u64::MAX; 2]; PREFIX_BYTES + 1];
    let mut len = 0;
    while len < PREFIX_BYTES {
        let bits = !(u128::MAX >> (8 * len));
        kept[len] = [(bits >> 64) as u64, bits as u64];
        len += 1;
    }
    kept
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
