//! Doubly linked list of requests, with its links in the pool.

use crate::pool::RequestPool;
use crate::request::{Links, RequestId};

/// List of requests in constant time per operation. A request is in at most one list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fifo {
    head: Option<RequestId>,
    tail: Option<RequestId>,
    length: usize,
}

impl Fifo {
    /// First request.
    #[must_use]
    pub const fn head(&self) -> Option<RequestId> {
        self.head
    }

    /// Last request.
    #[must_use]
    pub const fn tail(&self) -> Option<RequestId> {
        self.tail
    }

    /// Number of requests.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether the list has no request.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Request after `id`, which is in a list.
    #[must_use]
    pub fn next(pool: &RequestPool, id: RequestId) -> Option<RequestId> {
        pool[id].fifo.next
    }

    /// Request before `id`, which is in a list.
    #[must_use]
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
