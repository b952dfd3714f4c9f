//! Made-up words: pronounceable, each of its own spelling, and as long as English ones.
//!
//! The commonest words are the shortest (Zipf's law of abbreviation: G. K. Zipf, "The Psycho-Biology
//! of Language", 1935). Of a million words at exponent 1 the mean length is about 4.3 letters over a
//! text and 7.3 over the vocabulary, much as in English.

const CONSONANTS: [u8; 20] = *b"tnsrlhdcmfpgwbvkjzqx";
const VOWELS: [&[u8]; 10] = [
    b"e", b"a", b"o", b"i", b"u", b"ea", b"ou", b"ie", b"ai", b"oo",
];
const SYLLABLES: u64 = (CONSONANTS.len() * VOWELS.len()) as u64;
/// How a word may end behind its last vowel.
const ENDINGS: [&[u8]; 6] = [b"", b"s", b"n", b"r", b"t", b"l"];

/// No word of a 64-bit rank is longer: nine syllables of three letters and an ending.
pub(crate) const LONGEST_WORD: usize = 28;

/// Spell the word of that rank (1 is the commonest) at the start of `out`; its length.
///
/// Different ranks give different words: a syllable is a consonant with one of ten vowels, so that
/// a word can be taken apart again in one way only.
#[inline]
pub(crate) fn spell(rank: u64, out: &mut [u8; LONGEST_WORD]) -> usize {
    let mut left = rank - 1;
    let ending = ENDINGS[index(left, ENDINGS.len())];
    left /= ENDINGS.len() as u64;
    let mut len = 0;
    loop {
        let syllable = index(left, CONSONANTS.len() * VOWELS.len());
        out[len] = CONSONANTS[syllable % CONSONANTS.len()];
        len += 1 + put(VOWELS[syllable / CONSONANTS.len()], &mut out[len + 1..]);
        if left < SYLLABLES {
            break;
        }
        left = left / SYLLABLES - 1; // there is no zero among the digits of a bijective numeral
    }
    len + put(ending, &mut out[len..])
}

#[allow(clippy::cast_possible_truncation)] // the remainder is smaller than `of`
#[inline]
fn index(number: u64, of: usize) -> usize {
    (number % of as u64) as usize
}

#[inline]
fn put(letters: &[u8], out: &mut [u8]) -> usize {
    out[..letters.len()].copy_from_slice(letters);
    letters.len()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn word(rank: u64) -> String {
        let mut letters = [0; LONGEST_WORD];
        let len = spell(rank, &mut letters);
        String::from_utf8(letters[..len].to_vec()).unwrap()
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
        assert!((u64::MAX - 5_000..=u64::MAX).all(|rank| word(rank).len() <= LONGEST_WORD));
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
