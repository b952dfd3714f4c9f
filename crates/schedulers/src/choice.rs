//! Choice between two requests by their distance from the head (specification, section 3.3).

use crate::pool::RequestPool;
use crate::request::RequestId;
use crate::sorted::SortedSet;

/// Position of the head, and the cost of moving backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadRule {
    /// Sector at the head.
    pub head: u64,
    /// Farthest backward distance, in sectors, that is not a wrap.
    pub back_limit: u64,
    /// Factor of a backward distance.
    pub back_penalty: u64,
}

impl HeadRule {
    /// Distance to `start`, or none if the head would wrap.
    fn cost(&self, start: u64) -> Option<u64> {
        if start >= self.head {
            Some(start - self.head)
        } else if start + self.back_limit >= self.head {
            Some((self.head - start).saturating_mul(self.back_penalty))
        } else {
            None
        }
    }

    /// Whether a request that begins at `second` is better than one that begins at `first`.
    #[must_use]
    pub fn prefers_second(&self, first: u64, second: u64) -> bool {
        match (self.cost(first), self.cost(second)) {
            (Some(_), None) => false,
            (None, Some(_)) => true,
            (None, None) => second < first,
            (Some(a), Some(b)) => b < a || (a == b && second > first),
        }
    }

    /// The better one of two requests by their starts; the first one if they are equal.
    #[must_use]
    pub fn choose(
        &self,
        pool: &RequestPool,
        first: Option<RequestId>,
        second: Option<RequestId>,
    ) -> Option<RequestId> {
        let (Some(a), Some(b)) = (first, second) else {
            return first.or(second);
        };
        if self.prefers_second(pool[a].bio.start, pool[b].bio.start) {
            second
        } else {
            first
        }
    }
}

/// The neighbours of `request` in `sorted`: the next one, or else the lowest; and the previous one.
#[must_use]
pub fn successors(
    sorted: &SortedSet,
    pool: &RequestPool,
    request: RequestId,
) -> [Option<RequestId>; 2] {
    let start = pool[request].bio.start;
    let next = sorted
        .next(start, request)
        .or_else(|| sorted.first().filter(|&lowest| lowest != request));
    [next, sorted.previous(start, request)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_3_3_costs() {
        let rule = HeadRule {
            head: 1000,
            back_limit: 500,
            back_penalty: 2,
        };
        // Forward 100 against backward 40 (80), 50 (100) and 60 (120).
        assert!(rule.prefers_second(1100, 960));
        assert!(!rule.prefers_second(1100, 950));
        assert!(rule.prefers_second(950, 1100));
        assert!(!rule.prefers_second(1100, 940));
        // 499 and 400 are wrapped.
        assert!(!rule.prefers_second(9000, 499));
        assert!(rule.prefers_second(499, 400));
        assert!(!rule.prefers_second(500, 400));
    }
}
