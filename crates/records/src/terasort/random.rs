//! Random numbers of Hadoop's `Random16`, after `rand16.c` of the sort benchmark.

/// x -> a * x + c modulo 2^128. The constants are published in the comments of `Random16`; a is
/// from L'Ecuyer, Tables of linear congruential generators (Mathematics of Computation 68, 1999).
#[derive(Debug, Clone, Copy)]
struct Step {
    a: u128,
    c: u128,
}

const ONE: Step = Step {
    a: 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645,
    c: 0x4a69_6d47_7261_7952_4950_2020_2020_2001,
};

impl Step {
    fn apply(self, x: u128) -> u128 {
        self.a.wrapping_mul(x).wrapping_add(self.c)
    }

    fn squared(self) -> Self {
        Self {
            a: self.a.wrapping_mul(self.a),
            c: self.apply(self.c),
        }
    }
}

/// Random numbers, one per row.
#[derive(Debug, Clone)]
pub(crate) struct Random(u128);

impl Random {
    /// Start at the row with this number, by steps of 2^k.
    pub(crate) fn from_row(row: u64) -> Self {
        let mut x = 0;
        let mut step = ONE;
        for bit in 0..u64::BITS {
            if row >> bit & 1 == 1 {
                x = step.apply(x);
            }
            step = step.squared();
        }
        Self(x)
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u128 {
        self.0 = ONE.apply(self.0);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_in_the_middle_as_if_it_had_come_there() {
        let mut from_start = Random::from_row(0);
        for row in 0..1000 {
            assert_eq!(Random::from_row(row).next(), from_start.next());
        }
    }
}
