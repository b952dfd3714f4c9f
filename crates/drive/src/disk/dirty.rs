//! Write cache: blocks that the host has written and that are not on the medium.

use std::collections::BTreeMap;

/// Adjacent dirty blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First block.
    pub start: u64,
    /// Block after the last one.
    pub end: u64,
    /// Number of the oldest write in the extent.
    pub oldest: u64,
}

/// Dirty extents in block order; none touches another.
#[derive(Clone, Debug, Default)]
pub struct Dirty {
    extents: BTreeMap<u64, (u64, u64)>,
    blocks: u64,
}

impl Dirty {
    /// Number of dirty blocks.
    pub const fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Number of extents.
    pub fn extents(&self) -> usize {
        self.extents.len()
    }

    /// Whether no block is dirty.
    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// All extents in block order.
    pub fn iter(&self) -> impl Iterator<Item = Extent> + '_ {
        self.extents.iter().map(|(start, (end, oldest))| Extent {
            start: *start,
            end: *end,
            oldest: *oldest,
        })
    }

    /// Whether all of `start..end` is dirty.
    pub fn contains(&self, start: u64, end: u64) -> bool {
        let before = self.extents.range(..=start).next_back();
        before.is_some_and(|(_, (extent_end, _))| *extent_end >= end)
    }

    /// Whether `start..end` would extend or overlap an extent.
    pub fn touches(&self, start: u64, end: u64) -> bool {
        let before = self.extents.range(..=end).next_back();
        before.is_some_and(|(_, (extent_end, _))| *extent_end >= start)
    }

    /// Add `start..end` of write number `number`, merged with the extents that it touches.
    pub fn insert(&mut self, start: u64, end: u64, number: u64) {
        let (mut start, mut end, mut oldest) = (start, end, number);
        while let Some((&other, &(other_end, other_oldest))) =
            self.extents.range(..=end).next_back()
        {
            if other_end < start {
                break;
            }
            self.extents.remove(&other);
            self.blocks -= other_end - other;
            start = start.min(other);
            end = end.max(other_end);
            oldest = oldest.min(other_oldest);
        }
        self.extents.insert(start, (end, oldest));
        self.blocks += end - start;
    }

    /// Remove `start..end`: it is on the medium, or written again.
    pub fn remove(&mut self, start: u64, end: u64) {
        while let Some((&other, &(other_end, oldest))) = self.extents.range(..end).next_back() {
            if other_end <= start {
                break;
            }
            self.extents.remove(&other);
            self.blocks -= other_end - other;
            if other < start {
                self.extents.insert(other, (start, oldest));
                self.blocks += start - other;
            }
            if end < other_end {
                self.extents.insert(end, (other_end, oldest));
                self.blocks += other_end - end;
            }
        }
    }

    /// First extent at or after `block`, else the first of all (circular scan).
    pub fn next_from(&self, block: u64) -> Option<Extent> {
        let after = self.extents.range(block..).next();
        let (start, (end, oldest)) = after.or_else(|| self.extents.iter().next())?;
        Some(Extent {
            start: *start,
            end: *end,
            oldest: *oldest,
        })
    }

    /// Whether a write up to number `number` is dirty.
    pub fn has_before(&self, number: u64) -> bool {
        self.extents.values().any(|(_, oldest)| *oldest <= number)
    }
}
