//! Ranks drawn by Zipf's law, without working out a power for each.

use iostudy_pattern::Stream;
use rand_core::Rng;
use rand_distr::weighted::WeightedAliasIndex;
use rand_distr::{Distribution, StandardUniform};

use crate::wordcount::below::below;

/// Ranks up to this one have a class of their own. Further on a class is a 64th as wide as its first
/// rank is high, so that its ranks are nearly as likely as each other; the classes of a million ranks
/// fit into a CPU's first cache.
const SINGLE: u64 = 64;

/// Rank r, from 1 to a given one, in proportion to 1 / r^exponent.
///
/// A class is drawn as if all its ranks were as likely as the first, then one of its ranks; that is
/// kept in as many cases as it is less likely than that, or all begins anew. So the law is met
/// exactly, and no table grows with the ranks.
///
/// [`rand_distr::Zipf`] draws the same, but takes most of the time that a text takes.
pub(crate) struct Zipf {
    classes: Vec<Class>,
    weights: WeightedAliasIndex<f64>,
    exponent: f64,
}

/// Ranks next to each other.
struct Class {
    first: u64,
    ranks: u64,
    /// How likely the last rank is as against the first.
    least: f64,
}

impl Zipf {
    /// Of ranks from 1 to `ranks`; nothing if the exponent is negative or no number.
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

    /// The next rank.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Stream) -> u64 {
        loop {
            let class = &self.classes[self.weights.sample(random)];
            let rank = class.first + below(class.ranks, random.next_u64());
            let case: f64 = StandardUniform.sample(random);
            if class.keeps(rank, case, self.exponent) {
                return rank;
            }
        }
    }
}

impl Class {
    /// Whether one of its ranks is taken in that case of all, which are numbers from 0 to 1.
    #[inline]
    fn keeps(&self, rank: u64, case: f64, exponent: f64) -> bool {
        case < self.least || case < ratio(self.first, rank, exponent)
    }
}

fn classes(ranks: u64, exponent: f64) -> impl Iterator<Item = Class> {
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

/// How likely a rank is as against an earlier one.
#[allow(clippy::cast_precision_loss)] // of the 16 first digits no text tells
fn ratio(early: u64, late: u64, exponent: f64) -> f64 {
    (early as f64 / late as f64).powf(exponent)
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
        let kept = |rank, case| class.keeps(rank, case, 2.0);
        assert!(kept(100, 0.99));
        assert!(kept(125, 0.63) && !kept(125, 0.65)); // 0.64
        assert!(kept(200, 0.24) && !kept(200, 0.26)); // 0.25
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
