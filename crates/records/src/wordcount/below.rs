//! A number of 64 bits brought into a range.

/// A number below `end`: each as likely, if all of `number` are. Source: D. Lemire, "Fast random
/// integer generation in an interval", 2019.
#[inline]
#[allow(clippy::cast_possible_truncation)] // it is below `end`
pub(crate) fn below(end: u64, number: u64) -> u64 {
    ((u128::from(number) * u128::from(end)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_divided_evenly() {
        let half = 1 << 63;
        let numbers = [0, half - 1, half, u64::MAX];
        assert_eq!(numbers.map(|number| below(10, number)), [0, 4, 5, 9]);
        assert_eq!(numbers.map(|number| below(1, number)), [0; 4]);
    }
}
