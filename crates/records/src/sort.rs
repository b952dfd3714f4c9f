//! Interruptible in-place sorting.

use std::cmp::Ordering;

/// Values that are sorted in about 50 ms; smaller pieces cost more CPU time.
const PIECE: usize = 1 << 20;

/// Number of samples; their median is the pivot.
const SAMPLES: usize = 63;

/// A smaller part than 1/8 of the values shows an unrepresentative sample.
const MIN_PART_DIVISOR: usize = 8;

/// Sort values by `order`, which must begin with the order of `rank`. Large pieces are partitioned
/// as in quicksort. The standard library sorts small pieces, and pieces that no pivot splits
/// evenly.
///
/// # Errors
///
/// The error of `check_stop`, which is called before each piece. The values are then partially
/// sorted.
pub(crate) fn sort<T: Copy, E>(
    values: &mut [T],
    rank: impl Fn(&T) -> u128,
    order: impl Fn(&T, &T) -> Ordering,
    check_stop: impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    sort_pieces(values, PIECE, &rank, &order, &check_stop)
}

fn sort_pieces<T: Copy, E>(
    values: &mut [T],
    piece: usize,
    rank: &impl Fn(&T) -> u128,
    order: &impl Fn(&T, &T) -> Ordering,
    check_stop: &impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    check_stop()?;
    if values.len() > piece {
        let pivot = pivot(values, rank);
        let less = part(values, piece, |value| rank(value) < pivot, check_stop)?;
        if less.min(values.len() - less) > values.len() / MIN_PART_DIVISOR {
            let (before, after) = values.split_at_mut(less);
            sort_pieces(before, piece, rank, order, check_stop)?;
            return sort_pieces(after, piece, rank, order, check_stop);
        }
    }
    values.sort_unstable_by(order);
    Ok(())
}

fn pivot<T>(values: &[T], rank: &impl Fn(&T) -> u128) -> u128 {
    let positions = (0..SAMPLES).map(|sample| values.len() / SAMPLES * sample);
    let mut samples: Vec<u128> = positions.map(|place| rank(&values[place])).collect();
    samples.sort_unstable();
    samples[SAMPLES / 2]
}

/// Move smaller values to the front and return their number. The loop is branch-free, because the
/// CPU would mispredict half of the branches.
#[allow(clippy::manual_swap)] // swap() would reload the value
fn part<T: Copy, E>(
    values: &mut [T],
    piece: usize,
    is_less: impl Fn(&T) -> bool,
    check_stop: &impl Fn() -> Result<(), E>,
) -> Result<usize, E> {
    let mut less = 0;
    for start in (0..values.len()).step_by(piece) {
        check_stop()?;
        for place in start..values.len().min(start + piece) {
            let value = values[place];
            values[place] = values[less];
            values[less] = value;
            less += usize::from(is_less(&value));
        }
    }
    Ok(less)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    const SMALL: usize = 10;

    #[allow(clippy::trivially_copy_pass_by_ref)] // as the signature requires
    fn rank(value: &u16) -> u128 {
        (value / 4).into() // values of the same rank differ
    }

    fn sorted(mut values: Vec<u16>) -> Vec<u16> {
        values.sort_unstable();
        values
    }

    proptest! {
        #[test]
        fn sorts_like_the_standard_library(
            values in prop::collection::vec(0..1000_u16, 0..1000), kinds in 1..1000_u16,
        ) {
            let values: Vec<u16> = values.iter().map(|value| value % kinds).collect();
            let mut found = values.clone();
            sort_pieces(&mut found, SMALL, &rank, &u16::cmp, &|| Ok::<(), ()>(())).unwrap();
            prop_assert_eq!(found, sorted(values));
        }

        #[test]
        fn a_stop_ends_the_sort_at_any_check_and_no_value_is_lost(
            values in prop::collection::vec(any::<u16>(), 1000), stop_at in 0..100,
        ) {
            let calls = Cell::new(0);
            let check_stop = || {
                calls.set(calls.get() + 1);
                if calls.get() > stop_at { Err(()) } else { Ok(()) }
            };
            let mut left = values.clone();
            prop_assert!(sort_pieces(&mut left, SMALL, &rank, &u16::cmp, &check_stop).is_err());
            prop_assert_eq!(calls.get(), stop_at + 1);
            prop_assert_eq!(sorted(left), sorted(values));
        }
    }
}
