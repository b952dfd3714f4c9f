//! Fast sampling of Zipf-distributed ranks.

use iostudy_pattern::Stream;
use rand_core::Rng;
use rand_distr::weighted::WeightedAliasIndex;
use rand_distr::{Distribution, StandardUniform};

/// Ranks up to this one have single-rank classes. Later classes are 1/64 as wide as their first
/// rank, so their ranks are nearly equally likely. The classes of a million ranks fit the L1 cache.
const SINGLE: u64 = 64;

/// Zipf distribution: rank r has a probability proportional to 1 / r^exponent.
///
/// Rejection sampling: draw a class as if all its ranks were as likely as the first, then a rank,
/// and accept it with its relative probability. The distribution is exact and memory does not grow
/// with the ranks.
///
/// [`rand_distr::Zipf`] has the same distribution but would dominate the run time.
pub(crate) struct Zipf {
    classes: Vec<Class>,
    weights: WeightedAliasIndex<f64>,
    exponent: f64,
}

/// Class of consecutive ranks.
pub(crate) struct Class {
    pub(crate) first: u64,
    pub(crate) ranks: u64,
    /// Probability of the last rank relative to the first.
    least: f64,
}

impl Zipf {
    /// Create the distribution; `None` if the exponent is negative or not a number.
    #[allow(clippy::cast_precision_loss)] // as below
    pub(crate) fn new(ranks: u64, exponent: f64) -> Option<Self> {
        let valid = exponent.is_finite() && exponent >= 0.0;
        let classes: Vec<Class> = classes(ranks, exponent).collect();
        let weight = |class: &Class| class.ranks as f64 * ratio(1, class.first, exponent);
        let weights = WeightedAliasIndex::new(classes.iter().map(weight).collect());
        Some(Self {
            weights: weights.ok().filter(|_| valid)?,
            classes,
            exponent,
        })
    }

    /// Draw a rank.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Stream) -> u64 {
        loop {
            let class = &self.classes[self.weights.sample(random)];
            let rank = class.first + scale_to_range(class.ranks, random.next_u64());
            let case: f64 = StandardUniform.sample(random);
            if class.keeps(rank, case, self.exponent) {
                return rank;
            }
        }
    }
}

impl Class {
    /// Whether a rank is accepted for the uniform number `case`.
    #[inline]
    fn keeps(&self, rank: u64, case: f64, exponent: f64) -> bool {
        case < self.least || case < ratio(self.first, rank, exponent)
    }
}

/// Classes of all ranks, in order.
pub(crate) fn classes(ranks: u64, exponent: f64) -> impl Iterator<Item = Class> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let left = Some(ranks - done).filter(|left| *left > 0)?;
        let first = done + 1;
        let ranks = (first / SINGLE).clamp(1, left);
        done += ranks;
        Some(Class {
            first,
            ranks,
            least: ratio(first, done, exponent),
        })
    })
}

/// Probability of a rank relative to an earlier one.
#[allow(clippy::cast_precision_loss)] // 16 digits suffice
pub(crate) fn ratio(early: u64, late: u64, exponent: f64) -> f64 {
    (early as f64 / late as f64).powf(exponent)
}

/// Map a uniform 64-bit number to a uniform number below `end`. Source: D. Lemire, "Fast random
/// integer generation in an interval", 2019.
#[inline]
#[allow(clippy::cast_possible_truncation)] // it is below `end`
pub(crate) fn scale_to_range(end: u64, number: u64) -> u64 {
    ((u128::from(number) * u128::from(end)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_every_rank_once_and_are_few() {
        for ranks in [1, 63, 64, 65, 128, 1000, 1_000_000, u64::MAX] {
            let mut done = 0;
            let mut count = 0;
            for class in classes(ranks, 1.0) {
                assert_eq!(class.first, done + 1);
                assert!(class.ranks == 1 || class.ranks <= class.first / SINGLE);
                done += class.ranks;
                count += 1;
            }
            assert_eq!(done, ranks);
            assert!(count < 3000, "{count}");
        }
    }

    #[test]
    fn a_rank_is_kept_as_often_as_it_is_as_likely_as_the_first_of_its_class() {
        let class = Class {
            first: 100,
            ranks: 101,
            least: 0.25,
        };
        let keeps = |rank, case| class.keeps(rank, case, 2.0);
        assert!(keeps(100, 0.99));
        assert!(keeps(125, 0.63) && !keeps(125, 0.65)); // 0.64
        assert!(keeps(200, 0.24) && !keeps(200, 0.26)); // 0.25
    }

    #[test]
    fn ranks_are_as_likely_as_the_law_says() {
        const DRAWS: u32 = 300_000;
        for exponent in [0.0, 0.5, 1.0, 2.0] {
            let zipf = Zipf::new(1000, exponent).unwrap();
            let mut random = Stream::new(1);
            let mut found = [0_u32; 1001];
            for _ in 0..DRAWS {
                found[usize::try_from(zipf.draw(&mut random)).unwrap()] += 1;
            }
            let weights: Vec<f64> = (0..=1000).map(|r| f64::from(r).powf(-exponent)).collect();
            let all: f64 = weights[1..].iter().sum();
            for range in [1..=1, 2..=9, 10..=63, 64..=199, 200..=499, 500..=1000] {
                let share = weights[range.clone()].iter().sum::<f64>() / all;
                let expected = share * f64::from(DRAWS);
                let drawn = f64::from(found[range.clone()].iter().sum::<u32>());
                let off = (drawn - expected) / (expected * (1.0 - share)).sqrt();
                assert!(off.abs() < 4.0, "{drawn} of {range:?} for {expected}");
            }
        }
    }

    #[test]
    fn an_exponent_that_the_law_has_not_gives_none() {
        for exponent in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Zipf::new(10, exponent).is_none());
        }
    }
}

#[cfg(test)]
mod range_scale_tests {
    use super::*;

    #[test]
    fn a_range_is_divided_evenly() {
        let half = 1 << 63;
        let numbers = [0, half - 1, half, u64::MAX];
        assert_eq!(
            numbers.map(|number| scale_to_range(10, number)),
            [0, 4, 5, 9]
        );
        assert_eq!(numbers.map(|number| scale_to_range(1, number)), [0; 4]);
    }
}
