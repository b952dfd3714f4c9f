//! Artificial vocabulary of pronounceable, unique words with English word lengths.
//!
//! Frequent words are short (Zipf's law of abbreviation: G. K. Zipf, "The Psycho-Biology of
//! Language", 1935). With a million words and exponent 1 the mean length is 4.3 letters over a text
//! and 7.3 over the vocabulary, as in English.

const CONSONANTS: [u8; 20] = *b"tnsrlhdcmfpgwbvkjzqx";
const VOWELS: [&[u8]; 10] = [
    b"e", b"a", b"o", b"i", b"u", b"ea", b"ou", b"ie", b"ai", b"oo",
];
/// Syllables of a consonant and a vowel, with their lengths. A copy of fixed size is faster than
/// one of exact length.
const SYLLABLES: [([u8; 4], usize); CONSONANTS.len() * VOWELS.len()] = syllables();
/// Optional last consonant of a word.
const ENDINGS: [Option<u8>; 6] = [
    None,
    Some(b's'),
    Some(b'n'),
    Some(b'r'),
    Some(b't'),
    Some(b'l'),
];

/// Maximum length of a word with a 64-bit rank: nine syllables of three letters and an ending.
const MAX_WORD_BYTES: usize = 28;

/// Spelled word. It never crosses a cache line.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(crate) struct SpelledWord {
    out: [u8; MAX_WORD_BYTES],
    len: u32,
}

impl SpelledWord {
    /// Initial value.
    pub(crate) const NONE: Self = Self {
        out: [0; MAX_WORD_BYTES],
        len: 0,
    };

    /// Spell the word of this rank; 1 is the most frequent.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // no word is longer than the longest
    pub(crate) fn spell(&mut self, rank: u64) {
        self.len = spell(rank, &mut self.out) as u32;
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Length of the word of this rank.
    pub(crate) fn length(rank: u64) -> usize {
        let mut word = Self::NONE;
        word.spell(rank);
        word.len()
    }

    /// Letters, followed by unspecified bytes.
    #[inline]
    pub(crate) fn room(&self) -> &[u8; MAX_WORD_BYTES] {
        &self.out
    }
}

/// Spell the word of this rank at the start of `out` and return its length.
///
/// Distinct ranks have distinct words: each syllable is a consonant with one of ten vowels, so
/// decoding is unique.
#[inline]
fn spell(rank: u64, out: &mut [u8; MAX_WORD_BYTES]) -> usize {
    let (mut left, ending) = div_rem(rank - 1, ENDINGS.len());
    let mut len = 0;
    loop {
        let (more, syllable) = div_rem(left, SYLLABLES.len());
        let (letters, letters_len) = SYLLABLES[syllable];
        out[len..len + letters.len()].copy_from_slice(&letters);
        len += letters_len;
        if more == 0 {
            break;
        }
        left = more - 1; // a bijective numeral has no digit zero
    }
    if let Some(letter) = ENDINGS[ending] {
        out[len] = letter;
        len += 1;
    }
    len
}

/// Quotient and remainder.
#[allow(clippy::cast_possible_truncation)] // the remainder is smaller than `by`
#[inline]
fn div_rem(number: u64, by: usize) -> (u64, usize) {
    (number / by as u64, (number % by as u64) as usize)
}

const fn syllables() -> [([u8; 4], usize); CONSONANTS.len() * VOWELS.len()] {
    let mut all = [([0; 4], 0); CONSONANTS.len() * VOWELS.len()];
    let mut index = 0;
    while index < all.len() {
        let vowel = VOWELS[index / CONSONANTS.len()];
        let second = if vowel.len() > 1 { vowel[1] } else { 0 };
        let letters = [CONSONANTS[index % CONSONANTS.len()], vowel[0], second, 0];
        all[index] = (letters, 1 + vowel.len());
        index += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn word(rank: u64) -> String {
        let mut word = SpelledWord::NONE;
        word.spell(u64::MAX); // the previous word must not remain
        word.spell(rank);
        String::from_utf8(word.room()[..word.len()].to_vec()).unwrap()
    }

    #[test]
    fn the_commonest_are_the_shortest() {
        assert_eq!([1, 2, 7, 1201].map(word), ["te", "tes", "ne", "tete"]);
    }

    #[test]
    fn every_rank_has_a_spelling_of_its_own() {
        let words: HashSet<String> = (1..=500_000).map(word).collect();
        assert_eq!(words.len(), 500_000);
    }

    #[test]
    fn the_highest_rank_fits() {
        assert!((u64::MAX - 5_000..=u64::MAX).all(|rank| word(rank).len() <= MAX_WORD_BYTES));
    }

    #[test]
    fn words_are_as_long_as_english_ones() {
        let (mut letters, mut weights, mut spelled) = (0.0, 0.0, 0.0);
        for rank in 1..=1_000_000_u32 {
            let len = u32::try_from(word(rank.into()).len())
                .map(f64::from)
                .unwrap();
            let weight = 1.0 / f64::from(rank);
            letters += len * weight;
            weights += weight;
            spelled += len;
        }
        let (in_text, in_vocabulary) = (letters / weights, spelled / 1e6);
        assert!((4.2..4.4).contains(&in_text), "{in_text}");
        assert!((7.2..7.4).contains(&in_vocabulary), "{in_vocabulary}");
    }
}
