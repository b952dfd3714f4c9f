//! Requests sorted by their first sector.

use crate::request::RequestId;

/// Set of requests in the order of their first sectors; of equal ones, the newest is last.
///
/// A sorted vector: a queue holds at most a few hundred requests, and moving them in memory costs
/// less than the nodes of a tree.
#[derive(Clone, Debug, Default)]
pub struct SortedSet {
    entries: Vec<(u64, RequestId)>,
}

impl SortedSet {
    /// Number of requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Add `id`, which begins at `start`.
    pub fn insert(&mut self, start: u64, id: RequestId) {
        let index = self.entries.partition_point(|&(other, _)| other <= start);
        self.entries.insert(index, (start, id));
    }

    /// Remove `id`, which is in this set with `start`.
    ///
    /// # Panics
    ///
    /// If it is not in the set.
    pub fn remove(&mut self, start: u64, id: RequestId) {
        self.entries.remove(self.position(start, id));
    }

    /// The lowest request.
    #[must_use]
    pub fn first(&self) -> Option<RequestId> {
        self.entries.first().map(|&(_, id)| id)
    }

    /// The first request that begins at or after `start`.
    #[must_use]
    pub fn at_or_above(&self, start: u64) -> Option<RequestId> {
        let index = self.entries.partition_point(|&(other, _)| other < start);
        self.entries.get(index).map(|&(_, id)| id)
    }

    /// The oldest request that begins at `start`.
    #[must_use]
    pub fn find(&self, start: u64) -> Option<RequestId> {
        let index = self.entries.partition_point(|&(other, _)| other < start);
        let &(found, id) = self.entries.get(index)?;
        (found == start).then_some(id)
    }

    /// The request after `id`, which is in this set with `start`.
    #[must_use]
    pub fn next(&self, start: u64, id: RequestId) -> Option<RequestId> {
        let index = self.position(start, id) + 1;
        self.entries.get(index).map(|&(_, id)| id)
    }

    /// The request before `id`, which is in this set with `start`.
    #[must_use]
    pub fn previous(&self, start: u64, id: RequestId) -> Option<RequestId> {
        let index = self.position(start, id).checked_sub(1)?;
        Some(self.entries[index].1)
    }

    fn position(&self, start: u64, id: RequestId) -> usize {
        let first = self.entries.partition_point(|&(other, _)| other < start);
        let offset = self.entries[first..]
            .iter()
            .take_while(|&&(other, _)| other == start)
            .position(|&(_, other)| other == id);
        first + offset.expect("the request is in the set")
    }
}
