//! Expected numbers of words of a generated text.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "expected numbers, far below 2^52"
)]

use crate::wordcount::vocabulary::SpelledWord;
use crate::wordcount::zipf::{classes, ratio};

/// Ranks of a class that represent its lengths.
const SAMPLES: u64 = 8;

/// Words of ranks that are about as frequent.
struct RankClass {
    ranks: f64,
    /// Probability of one of them.
    probability: f64,
    /// Mean length in bytes.
    length: f64,
}

/// Expected numbers of words of a text with words drawn by Zipf's law.
pub struct TextStatistics {
    classes: Vec<RankClass>,
}

/// Expected different words of a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistinctWords {
    /// Their number.
    pub words: u64,
    /// Their letters in bytes.
    pub letters: u64,
    /// Decimal digits of their counts.
    pub digits: u64,
}

impl TextStatistics {
    pub(crate) fn new(vocabulary: u64, exponent: f64) -> Self {
        let classes = classes(vocabulary, exponent);
        let mut classes: Vec<RankClass> = classes
            .map(|class| RankClass {
                ranks: class.ranks as f64,
                probability: ratio(1, class.first + class.ranks / 2, exponent),
                length: mean_length(class.first, class.ranks),
            })
            .collect();
        let all: f64 = classes
            .iter()
            .map(|class| class.ranks * class.probability)
            .sum();
        for class in &mut classes {
            class.probability /= all;
        }
        Self { classes }
    }

    /// Bytes of a word of the text, with the blank behind it.
    pub fn word_bytes(&self) -> f64 {
        let lengths = self.classes.iter();
        let lengths = lengths.map(|class| class.ranks * class.probability * class.length);
        lengths.sum::<f64>() + 1.0
    }

    /// Different words among `words` words.
    pub fn distinct(&self, words: u64) -> DistinctWords {
        let (mut number, mut letters, mut digits) = (0.0, 0.0, 0.0);
        for class in &self.classes {
            let count = words as f64 * class.probability;
            let present = class.ranks * -(-count).exp_m1();
            number += present;
            letters += present * class.length;
            digits += present * (count.max(1.0).log10().floor() + 1.0);
        }
        DistinctWords {
            words: number.round() as u64,
            letters: letters.round() as u64,
            digits: digits.round() as u64,
        }
    }

    /// Words after which `distinct` different ones were found; none if there are not as many.
    pub fn words_until(&self, distinct: u64) -> Option<u64> {
        let (mut few, mut many) = (0, u64::MAX >> 12);
        if self.distinct(many).words <= distinct {
            return None;
        }
        while many - few > 1 {
            let middle = u64::midpoint(few, many);
            if self.distinct(middle).words > distinct {
                many = middle;
            } else {
                few = middle;
            }
        }
        Some(few)
    }
}

fn mean_length(first: u64, ranks: u64) -> f64 {
    let samples = ranks.min(SAMPLES);
    let ranks = (0..samples).map(|sample| first + ranks * sample / samples);
    let lengths: usize = ranks.map(SpelledWord::length).sum();
    lengths as f64 / samples as f64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::wordcount::text::Writer;
    use crate::wordcount::zipf::Zipf;

    #[test]
    fn a_generated_text_has_the_expected_words() {
        for (vocabulary, exponent) in [(50_000, 1.0), (1000, 0.0), (1_000_000, 1.2)] {
            let zipf = Zipf::new(vocabulary, exponent).unwrap();
            let mut text = vec![0; 4 << 20];
            Writer::new(&zipf, 1, 0, 0).fill(&mut text);
            let words: Vec<&[u8]> = text
                .split(|byte| matches!(byte, b' ' | b'\n'))
                .filter(|word| !word.is_empty())
                .collect();
            let distinct: HashSet<&[u8]> = words.iter().copied().collect();
            let statistics = TextStatistics::new(vocabulary, exponent);
            let expected = statistics.distinct(words.len() as u64);
            let letters: usize = distinct.iter().map(|word| word.len()).sum();
            let close = |found: f64, expected: f64| {
                assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
            };
            close(
                text.len() as f64 / words.len() as f64,
                statistics.word_bytes(),
            );
            close(distinct.len() as f64, expected.words as f64);
            close(letters as f64, expected.letters as f64);
        }
    }

    #[test]
    fn a_table_is_full_after_the_words_that_have_as_many_different_ones() {
        let statistics = TextStatistics::new(10_000, 1.0);
        let words = statistics.words_until(5000).unwrap();
        assert_eq!(statistics.distinct(words).words, 5000);
        assert_eq!(statistics.words_until(10_000), None);
    }
}
