//! Token pools of the domains, and their sizes (specification, section 7.4).

use crate::kyber::latency::BAD;

/// Largest number of tokens per domain.
pub const MAX_DEPTH: [u32; 4] = [256, 128, 64, 16];

/// Domains with a latency target.
pub const MEASURED: usize = 3;

/// Tokens of a domain.
#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    depth: u32,
    max: u32,
    used: u32,
    /// Percentile that a later congested window uses if it has none.
    remembered: Option<usize>,
}

impl Tokens {
    /// All tokens of a domain.
    pub const fn new(max: u32) -> Self {
        Self {
            depth: max,
            max,
            used: 0,
            remembered: None,
        }
    }

    /// Take a token if one is left.
    pub const fn take(&mut self) -> bool {
        let left = self.used < self.depth;
        if left {
            self.used += 1;
        }
        left
    }

    /// Give a token back.
    pub const fn release(&mut self) {
        self.used -= 1;
    }

    /// Resize after a window with bucket `p99` of the total latency.
    fn resize(&mut self, congested: bool, p99: Option<usize>) {
        let p99 = if congested {
            p99.or(self.remembered.take())
        } else {
            self.remembered = p99.or(self.remembered);
            p99
        };
        if congested {
            self.remembered = None;
        }
        let Some(bucket) = p99.filter(|&bucket| congested || bucket >= BAD) else {
            return;
        };
        let buckets = u32::try_from(bucket + 1).unwrap_or(u32::MAX);
        self.depth = (self.depth * buckets / 4).clamp(1, self.max);
    }
}

/// Resize the measured domains after a window with these percentiles.
pub fn resize(
    domains: &mut [Tokens],
    p90_io: [Option<usize>; MEASURED],
    p99_total: [Option<usize>; MEASURED],
) {
    let congested = p90_io.iter().flatten().any(|&bucket| bucket >= BAD);
    for (tokens, p99) in domains.iter_mut().zip(p99_total) {
        tokens.resize(congested, p99);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e7_2_depth_control() {
        let mut domains = MAX_DEPTH.map(Tokens::new);
        let depths = |domains: &[Tokens; 4]| [domains[0].depth, domains[1].depth];
        resize(
            &mut domains,
            [Some(1), Some(5), None],
            [Some(2), Some(7), None],
        );
        assert_eq!(depths(&domains), [192, 128]);
        resize(&mut domains, [None, Some(5), None], [Some(0), None, None]);
        assert_eq!(depths(&domains), [48, 128]);
        resize(&mut domains, [Some(0); 3], [Some(4), None, None]);
        assert_eq!(depths(&domains), [60, 128]);
    }

    #[test]
    fn section_7_4_a_congested_window_uses_the_remembered_percentile_once() {
        let mut domains = MAX_DEPTH.map(Tokens::new);
        resize(&mut domains, [Some(0); 3], [Some(1), None, None]);
        assert_eq!(domains[0].depth, 256);
        resize(&mut domains, [None, Some(7), None], [None; 3]);
        assert_eq!(domains[0].depth, 128);
        resize(&mut domains, [None, Some(7), None], [None; 3]);
        assert_eq!(domains[0].depth, 128);
    }

    #[test]
    fn section_7_7_depth_stays_in_range() {
        let mut domains = MAX_DEPTH.map(Tokens::new);
        for _ in 0..20 {
            resize(&mut domains, [Some(4); 3], [Some(0); 3]);
        }
        assert_eq!(domains.map(|tokens| tokens.depth), [1, 1, 1, 16]);
        for _ in 0..20 {
            resize(&mut domains, [Some(0); 3], [Some(7); 3]);
        }
        assert_eq!(domains.map(|tokens| tokens.depth), MAX_DEPTH);
    }
}
