//! Index of mergeable requests: the last-merge cache and the hash of request ends.

use crate::request::{Bio, Links, Request, RequestId, RequestPool};

const BUCKETS: u64 = 256;

/// Side of a request at which a bio joins it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeSide {
    /// The bio begins at the end of the request.
    Back,
    /// The bio ends at the start of the request.
    Front,
}

/// A request that can absorb a bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeTarget {
    /// The request.
    pub request: RequestId,
    /// Side that grows.
    pub side: MergeSide,
}

/// Which merges a queue tries (`queue/nomerges`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergePolicy {
    /// 0: all.
    All,
    /// 1: only with the last-merge cache.
    CacheOnly,
    /// 2: none.
    Disabled,
}

/// Side of `request` at which `bio` is adjacent.
pub const fn adjacent_side(request: &Request, bio: &Bio) -> Option<MergeSide> {
    if request.bio.end() == bio.start {
        Some(MergeSide::Back)
    } else if bio.end() == request.bio.start {
        Some(MergeSide::Front)
    } else {
        None
    }
}

/// Requests of the scheduler that can grow. Requests leave it when the scheduler dispatches them.
#[derive(Debug)]
pub struct MergeIndex {
    pub(crate) last_merge: Option<RequestId>,
    buckets: Vec<Option<RequestId>>,
}

impl Default for MergeIndex {
    fn default() -> Self {
        Self {
            last_merge: None,
            buckets: vec![None; usize::try_from(BUCKETS).expect("a small number")],
        }
    }
}

impl MergeIndex {
    /// Requests that end at `sector`, the newest first.
    pub(crate) fn ending_at<'a>(
        &self,
        pool: &'a RequestPool,
        sector: u64,
    ) -> impl Iterator<Item = RequestId> + 'a {
        let head = self.buckets[bucket(sector)];
        std::iter::successors(head, |&id| pool[id].hash.next)
            .filter(move |&id| pool[id].bio.end() == sector)
    }

    pub(crate) fn insert(&mut self, pool: &mut RequestPool, id: RequestId) {
        let head = self.buckets[bucket(pool[id].bio.end())].replace(id);
        if let Some(head) = head {
            pool[head].hash.previous = Some(id);
        }
        pool[id].hash = Links {
            previous: None,
            next: head,
        };
        pool[id].hashed = true;
    }

    /// Remove `id` before its end changes or it leaves the scheduler.
    pub(crate) fn remove(&mut self, pool: &mut RequestPool, id: RequestId) {
        if !std::mem::take(&mut pool[id].hashed) {
            return;
        }
        let Links { previous, next } = std::mem::replace(&mut pool[id].hash, Links::NONE);
        match previous {
            Some(previous) => pool[previous].hash.next = next,
            None => self.buckets[bucket(pool[id].bio.end())] = next,
        }
        if let Some(next) = next {
            pool[next].hash.previous = previous;
        }
    }
}

/// Bucket of a sector: the multiplier is 2^64 divided by the golden ratio.
fn bucket(sector: u64) -> usize {
    let hash = sector.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    usize::try_from(hash % BUCKETS).expect("a small number")
}
