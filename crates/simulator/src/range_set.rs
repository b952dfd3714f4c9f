//! Set of page numbers as ranges.

use std::collections::BTreeMap;
use std::ops::Range;

/// Set of pages, kept as disjoint ranges that do not touch.
#[derive(Clone, Debug, Default)]
pub struct RangeSet(BTreeMap<u64, u64>);

impl RangeSet {
    /// Whether the set has no page.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The end of the range that holds `page`; none if the set does not have it.
    pub fn end_of(&self, page: u64) -> Option<u64> {
        let (_, &end) = self.0.range(..=page).next_back()?;
        (end > page).then_some(end)
    }

    /// The first range that ends after `page`, cut off before `page`.
    pub fn next_from(&self, page: u64) -> Option<Range<u64>> {
        if let Some(end) = self.end_of(page) {
            return Some(page..end);
        }
        let (&start, &end) = self.0.range(page..).next()?;
        Some(start..end)
    }

    /// Add a range. Returns the number of pages that the set did not have.
    pub fn insert(&mut self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let (mut start, mut end, mut known) = (range.start, range.end, 0);
        while let Some((&first, &last)) = self.0.range(..=end).next_back() {
            if last < start {
                break;
            }
            known += last.min(range.end).saturating_sub(first.max(range.start));
            self.0.remove(&first);
            start = start.min(first);
            end = end.max(last);
        }
        self.0.insert(start, end);
        range.end - range.start - known
    }

    /// Remove a range. Returns the number of pages that the set had of it.
    pub fn remove(&mut self, range: Range<u64>) -> u64 {
        let mut removed = 0;
        while let Some((&first, &last)) = self.0.range(..range.end).next_back() {
            if last <= range.start {
                break;
            }
            self.0.remove(&first);
            if last > range.end {
                self.0.insert(range.end, last);
            }
            removed += last.min(range.end) - first.max(range.start);
            if first < range.start {
                self.0.insert(first, range.start);
            }
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_holds_the_pages_of_a_plain_set(
            steps in proptest::collection::vec((any::<bool>(), 0_u64..60, 0_u64..20), 1..60),
        ) {
            let (mut ranges, mut pages) = (RangeSet::default(), BTreeSet::new());
            for (adds, start, length) in steps {
                let range = start..start + length;
                let before = pages.len();
                if adds {
                    pages.extend(range.clone());
                    prop_assert_eq!(ranges.insert(range), (pages.len() - before) as u64);
                } else {
                    pages.retain(|page| !range.contains(page));
                    prop_assert_eq!(ranges.remove(range), (before - pages.len()) as u64);
                }
                for page in 0..80 {
                    prop_assert_eq!(ranges.end_of(page).is_some(), pages.contains(&page));
                    let next = ranges.next_from(page).map(|range| range.start);
                    prop_assert_eq!(next, pages.range(page..).next().copied());
                }
                prop_assert_eq!(ranges.is_empty(), pages.is_empty());
            }
        }
    }
}
