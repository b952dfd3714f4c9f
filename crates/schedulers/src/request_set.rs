//! Requests in the order of their arrival and of their first sectors, and the choice between two by
//! their distance from the head (specification, section 3.3).

use crate::request::{Links, RequestId, RequestPool};

/// List of requests in constant time per operation. A request is in at most one list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fifo {
    head: Option<RequestId>,
    tail: Option<RequestId>,
    length: usize,
}

impl Fifo {
    /// First request.
    pub const fn head(&self) -> Option<RequestId> {
        self.head
    }

    /// Last request.
    pub const fn tail(&self) -> Option<RequestId> {
        self.tail
    }

    /// Number of requests.
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether the list has no request.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Request after `id`, which is in a list.
    pub fn next(pool: &RequestPool, id: RequestId) -> Option<RequestId> {
        pool[id].fifo.next
    }

    /// Request before `id`, which is in a list.
    pub fn previous(pool: &RequestPool, id: RequestId) -> Option<RequestId> {
        pool[id].fifo.previous
    }

    /// Append `id`.
    pub fn push(&mut self, pool: &mut RequestPool, id: RequestId) {
        self.insert_after(pool, self.tail, id);
    }

    /// Insert `id` after `position`, or as the head.
    pub fn insert_after(
        &mut self,
        pool: &mut RequestPool,
        position: Option<RequestId>,
        id: RequestId,
    ) {
        let next = match position {
            Some(previous) => pool[previous].fifo.next.replace(id),
            None => self.head.replace(id),
        };
        match next {
            Some(next) => pool[next].fifo.previous = Some(id),
            None => self.tail = Some(id),
        }
        pool[id].fifo = Links {
            previous: position,
            next,
        };
        self.length += 1;
    }

    /// Remove `id`, which is in this list.
    pub fn remove(&mut self, pool: &mut RequestPool, id: RequestId) {
        let Links { previous, next } = std::mem::replace(&mut pool[id].fifo, Links::NONE);
        match previous {
            Some(previous) => pool[previous].fifo.next = next,
            None => self.head = next,
        }
        match next {
            Some(next) => pool[next].fifo.previous = previous,
            None => self.tail = previous,
        }
        self.length -= 1;
    }

    /// Remove and return the head.
    pub fn pop(&mut self, pool: &mut RequestPool) -> Option<RequestId> {
        let head = self.head?;
        self.remove(pool, head);
        Some(head)
    }

    /// Remove `absorbed`, which `survivor` has joined. If its deadline is earlier, the survivor
    /// takes this deadline and its place in the list. Both are in this list.
    pub fn join(&mut self, pool: &mut RequestPool, survivor: RequestId, absorbed: RequestId) {
        let deadline = pool[absorbed].deadline;
        if deadline < pool[survivor].deadline {
            pool[survivor].deadline = deadline;
            self.remove(pool, survivor);
            self.insert_after(pool, Some(absorbed), survivor);
        }
        self.remove(pool, absorbed);
    }
}

/// Set of requests in the order of their first sectors; of equal ones, the newest is last.
///
/// A sorted vector: a queue holds at most a few hundred requests, and moving them in memory costs
/// less than the nodes of a tree.
#[derive(Clone, Debug, Default)]
pub struct SortedSet {
    entries: Vec<(u64, RequestId)>,
}

impl SortedSet {
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
    pub fn first(&self) -> Option<RequestId> {
        self.entries.first().map(|&(_, id)| id)
    }

    /// The first request that begins at or after `start`.
    pub fn at_or_above(&self, start: u64) -> Option<RequestId> {
        let index = self.entries.partition_point(|&(other, _)| other < start);
        self.entries.get(index).map(|&(_, id)| id)
    }

    /// The oldest request that begins at `start`.
    pub fn find(&self, start: u64) -> Option<RequestId> {
        let index = self.entries.partition_point(|&(other, _)| other < start);
        let &(found, id) = self.entries.get(index)?;
        (found == start).then_some(id)
    }

    /// The request after `id`, which is in this set with `start`.
    pub fn next(&self, start: u64, id: RequestId) -> Option<RequestId> {
        let index = self.position(start, id) + 1;
        self.entries.get(index).map(|&(_, id)| id)
    }

    /// The request before `id`, which is in this set with `start`.
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

/// Requests of a scheduler in both orders, and the next one of a sweep.
#[derive(Debug, Default)]
pub struct RequestSet {
    /// By first sectors.
    pub sorted: SortedSet,
    /// By arrival.
    pub fifo: Fifo,
    /// The request that the sweep serves next.
    pub next: Option<RequestId>,
}

impl RequestSet {
    /// Whether the set is empty.
    pub const fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    /// Add `id`.
    pub fn insert(&mut self, pool: &mut RequestPool, id: RequestId) {
        self.sorted.insert(pool[id].bio.start, id);
        self.fifo.push(pool, id);
    }

    /// Remove `id`, which is in this set.
    pub fn remove(&mut self, pool: &mut RequestPool, id: RequestId) {
        self.sorted.remove(pool[id].bio.start, id);
        self.fifo.remove(pool, id);
    }

    /// Remove `absorbed`, which `survivor` has joined. `successor` becomes the next one in its place.
    pub fn join(
        &mut self,
        pool: &mut RequestPool,
        survivor: RequestId,
        absorbed: RequestId,
        successor: impl FnOnce(&Self, &RequestPool) -> Option<RequestId>,
    ) {
        if self.next == Some(absorbed) {
            self.next = successor(self, pool);
        }
        self.sorted.remove(pool[absorbed].bio.start, absorbed);
        self.fifo.join(pool, survivor, absorbed);
    }

    /// The request above `id`, which is in this set.
    pub fn above(&self, pool: &RequestPool, id: RequestId) -> Option<RequestId> {
        self.sorted.next(pool[id].bio.start, id)
    }

    /// The better neighbour of `id`: the next one or else the lowest of all, and the previous one.
    pub fn successor(
        &self,
        rule: &HeadRule,
        pool: &RequestPool,
        id: RequestId,
    ) -> Option<RequestId> {
        let start = pool[id].bio.start;
        let lowest = || self.sorted.first().filter(|&lowest| lowest != id);
        let next = self.sorted.next(start, id).or_else(lowest);
        rule.choose(pool, next, self.sorted.previous(start, id))
    }
}

/// Position of the head, and the cost of moving backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadRule {
    /// Sector at the head.
    pub head: u64,
    /// Farthest backward distance, in sectors, that is not a wrap.
    pub back_limit: u64,
    /// Factor of a backward distance.
    pub back_penalty: u64,
    /// Whether metadata of a file system come before all else.
    pub metadata_first: bool,
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
    pub fn prefers_second(&self, first: u64, second: u64) -> bool {
        match (self.cost(first), self.cost(second)) {
            (Some(_), None) => false,
            (None, Some(_)) => true,
            (None, None) => second < first,
            (Some(a), Some(b)) => b < a || (a == b && second > first),
        }
    }

    /// The better one of two requests; the first one if they are equal.
    pub fn choose(
        &self,
        pool: &RequestPool,
        first: Option<RequestId>,
        second: Option<RequestId>,
    ) -> Option<RequestId> {
        let (Some(a), Some(b)) = (first, second) else {
            return first.or(second);
        };
        let (a, b) = (&pool[a].bio, &pool[b].bio);
        let is_second = if self.metadata_first && a.metadata != b.metadata {
            b.metadata
        } else {
            self.prefers_second(a.start, b.start)
        };
        if is_second { second } else { first }
    }
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
            metadata_first: false,
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
