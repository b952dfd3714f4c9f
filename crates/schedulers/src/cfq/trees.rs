//! Service trees: queues in the order of their keys (specification, sections 4.1 and 4.3).

use crate::averages::Average;
use crate::request::PriorityClass;

use super::queue::TreeKind;

const TREES: usize = 7;

/// Tree of a class and kind; the idle class has one.
pub const fn index(class: PriorityClass, kind: TreeKind) -> usize {
    match class {
        PriorityClass::RealTime => kind as usize,
        PriorityClass::BestEffort => 3 + kind as usize,
        PriorityClass::Idle => 6,
    }
}

/// Queues by key, of equal keys the oldest first, and their think times.
#[derive(Debug, Default)]
pub struct Tree {
    entries: Vec<(i64, u32)>,
    pub think: Average,
    pub last_completion: i64,
}

impl Tree {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn first(&self) -> Option<(i64, u32)> {
        self.entries.first().copied()
    }

    pub fn last_key(&self) -> Option<i64> {
        self.entries.last().map(|&(key, _)| key)
    }

    pub fn insert(&mut self, key: i64, queue: u32) {
        let place = self.entries.partition_point(|&(other, _)| other <= key);
        self.entries.insert(place, (key, queue));
    }

    pub fn remove(&mut self, queue: u32) {
        self.entries.retain(|&(_, other)| other != queue);
    }
}

/// All trees of the device.
#[derive(Debug, Default)]
pub struct Trees(pub [Tree; TREES]);

impl Trees {
    /// Queues on all trees.
    pub fn busy(&self) -> i64 {
        count(self.0.iter())
    }

    /// Sync queues on all trees. Queues of the idle class count as sync.
    pub fn busy_sync(&self) -> i64 {
        let sync = [1, 2, 4, 5, 6].map(|index| self.0[index].len());
        count_of(sync.iter().sum())
    }

    /// Async queues of the real-time and best-effort classes.
    pub fn busy_async(&self) -> i64 {
        count_of(self.0[0].len() + self.0[3].len())
    }

    /// Queues of a class.
    pub fn of_class(&self, class: PriorityClass) -> i64 {
        count(self.0[Self::range(class)].iter())
    }

    /// The tree of a class with the lowest key.
    pub fn lowest(&self, class: PriorityClass) -> Option<usize> {
        Self::range(class)
            .filter_map(|index| Some((self.0[index].first()?.0, index)))
            .min()
            .map(|(_, index)| index)
    }

    fn range(class: PriorityClass) -> std::ops::Range<usize> {
        match class {
            PriorityClass::RealTime => 0..3,
            PriorityClass::BestEffort => 3..6,
            PriorityClass::Idle => 6..7,
        }
    }
}

fn count<'a>(trees: impl Iterator<Item = &'a Tree>) -> i64 {
    count_of(trees.map(Tree::len).sum())
}

fn count_of(queues: usize) -> i64 {
    i64::try_from(queues).expect("a small number")
}
