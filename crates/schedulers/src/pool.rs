//! Slab of all requests of a queue.

use std::ops::{Index, IndexMut};

use crate::clock::Nanos;
use crate::request::{Bio, Request, RequestId};

/// Slab of requests. It allocates memory only when more requests exist than ever before.
#[derive(Debug, Default)]
pub struct RequestPool {
    slots: Vec<Request>,
    free: Vec<RequestId>,
}

impl RequestPool {
    /// Requests and merged bios in the pool.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether the pool holds no request.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn allocate(&mut self, bio: Bio, now: Nanos) -> RequestId {
        let request = Request::new(bio, now);
        if let Some(id) = self.free.pop() {
            self[id] = request;
            return id;
        }
        let index = u32::try_from(self.slots.len()).expect("fewer than 2^32 - 1 requests");
        self.slots.push(request);
        RequestId::from_index(index)
    }

    /// Append `absorbed` and what it absorbed before to the bios of `survivor`.
    pub(crate) fn chain(&mut self, survivor: RequestId, absorbed: RequestId) {
        let last = self[survivor].merged_last.unwrap_or(survivor);
        self[last].merged_next = Some(absorbed);
        self[survivor].merged_last = Some(self[absorbed].merged_last.unwrap_or(absorbed));
    }

    /// Free a completed request with all its bios, and append their tags to `tags`.
    pub(crate) fn release(&mut self, id: RequestId, tags: &mut Vec<u64>) {
        let mut current = Some(id);
        while let Some(bio) = current {
            tags.push(self[bio].bio.tag);
            current = self[bio].merged_next;
            self.free.push(bio);
        }
    }
}

impl Index<RequestId> for RequestPool {
    type Output = Request;

    fn index(&self, id: RequestId) -> &Request {
        &self.slots[id.index()]
    }
}

impl IndexMut<RequestId> for RequestPool {
    fn index_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.slots[id.index()]
    }
}
