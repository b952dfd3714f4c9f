//! Scaling of 64-bit numbers to a range.

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
