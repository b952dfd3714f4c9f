//! State that the queue and its scheduler share: time, requests, dispatch lists and counts.

use crate::clock::{Hz, Jiffies, Nanos};
use crate::merge::{MergeIndex, MergePolicy, MergeSide, MergeTarget, adjacent_side};
use crate::request::{Bio, RequestId, RequestPool};
use crate::request_set::Fifo;

/// Properties of a queue and of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Tick rate of the kernel.
    pub hz: Hz,
    /// Whether the medium rotates (`queue/rotational`).
    pub rotational: bool,
    /// Commands that the device accepts at once.
    pub queue_depth: u32,
    /// CPUs that submit.
    pub cpus: u16,
    /// Requests per pool (legacy) or tags (`queue/nr_requests`).
    pub nr_requests: u32,
    /// Largest request in sectors (twice `queue/max_sectors_kb`).
    pub max_sectors: u32,
    /// Merges that the queue tries (`queue/nomerges`).
    pub merges: MergePolicy,
    /// Whether the driver takes one request more than the device accepts, which then waits first in
    /// line. Drivers of blk-mq without a budget do, such as loop; SCSI has a budget.
    pub takes_ahead: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hz: Hz::HZ_1000,
            rotational: true,
            queue_depth: 1,
            cpus: 1,
            nr_requests: 128,
            max_sectors: 1024,
            merges: MergePolicy::All,
            takes_ahead: false,
        }
    }
}

/// State of a queue that its scheduler reads and changes.
#[derive(Debug)]
pub struct QueueState {
    /// Time of the current event.
    pub now: Nanos,
    /// Properties of the queue.
    pub settings: Settings,
    /// All requests that are not complete.
    pub requests: RequestPool,
    pub(crate) merges: MergeIndex,
    /// Requests that the scheduler dispatched and the driver did not take.
    pub(crate) dispatch: Fifo,
    /// Requests that the device holds.
    pub(crate) in_driver: u32,
    /// Allocated requests: async and sync.
    pub(crate) allocated: [u32; 2],
}

impl QueueState {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            now: 0,
            settings,
            requests: RequestPool::default(),
            merges: MergeIndex::default(),
            dispatch: Fifo::default(),
            in_driver: 0,
            allocated: [0; 2],
        }
    }

    /// The current jiffy.
    pub const fn jiffy(&self) -> Jiffies {
        self.settings.hz.jiffy(self.now)
    }

    /// Sync or async requests that are allocated.
    pub fn allocated(&self, sync: bool) -> u32 {
        self.allocated[usize::from(sync)]
    }

    /// Whether tags are left, which sync and async requests share.
    pub(crate) fn has_tag(&self) -> bool {
        self.allocated[0] + self.allocated[1] < self.settings.nr_requests
    }

    /// Move `id` from the scheduler to the tail of its dispatch list.
    pub fn dispatch_append(&mut self, id: RequestId) {
        self.leave_scheduler(id);
        self.dispatch.push(&mut self.requests, id);
    }

    /// Move `id` from the scheduler into its dispatch list: before the requests of the same
    /// direction at the tail that begin at higher sectors (legacy schedulers).
    pub fn dispatch_sorted(&mut self, id: RequestId) {
        self.leave_scheduler(id);
        let bio = self.requests[id].bio;
        let mut position = self.dispatch.tail();
        while let Some(other) = position {
            let placed = &self.requests[other].bio;
            if placed.operation != bio.operation || placed.start <= bio.start {
                break;
            }
            position = Fifo::previous(&self.requests, other);
        }
        self.dispatch.insert_after(&mut self.requests, position, id);
    }

    fn leave_scheduler(&mut self, id: RequestId) {
        self.merges.remove(&mut self.requests, id);
        if self.merges.last_merge == Some(id) {
            self.merges.last_merge = None;
        }
    }

    /// Whether `request` and `other` have the same operation and fit into one request.
    pub fn fit_together(&self, request: RequestId, other: &Bio) -> bool {
        let bio = &self.requests[request].bio;
        bio.operation == other.operation && bio.sectors + other.sectors <= self.settings.max_sectors
    }

    /// The request in the last-merge cache, if `bio` is adjacent to it and fits.
    pub fn cached_merge(&self, bio: &Bio) -> Option<MergeTarget> {
        let request = self.merges.last_merge?;
        let side = adjacent_side(&self.requests[request], bio)?;
        self.fit_together(request, bio)
            .then_some(MergeTarget { request, side })
    }

    /// The newest request that ends where `bio` begins, has room for it, and is permitted.
    pub fn back_merge(
        &self,
        bio: &Bio,
        permits: impl Fn(RequestId) -> bool,
    ) -> Option<MergeTarget> {
        self.merges
            .ending_at(&self.requests, bio.start)
            .find(|&request| self.fit_together(request, bio) && permits(request))
            .map(|request| MergeTarget {
                request,
                side: MergeSide::Back,
            })
    }

    /// The merge with one of the `count` newest requests of `list`. The first adjacent one
    /// decides.
    pub fn newest_merge(&self, list: &Fifo, count: usize, bio: &Bio) -> Option<MergeTarget> {
        let newest = std::iter::successors(list.tail(), |&id| Fifo::previous(&self.requests, id));
        let (request, side) = newest.take(count).find_map(|id| {
            let side = adjacent_side(&self.requests[id], bio)?;
            Some((id, side))
        })?;
        self.fit_together(request, bio)
            .then_some(MergeTarget { request, side })
    }

    /// Allocate a request for `bio`.
    pub(crate) fn allocate(&mut self, bio: Bio) -> RequestId {
        self.allocated[usize::from(bio.is_sync())] += 1;
        self.requests.allocate(bio, self.now)
    }

    fn free_allocation(&mut self, bio: &Bio) {
        self.allocated[usize::from(bio.is_sync())] -= 1;
    }

    /// Make an inserted request mergeable.
    pub(crate) fn index_for_merges(&mut self, id: RequestId) {
        self.merges.insert(&mut self.requests, id);
        self.merges.last_merge.get_or_insert(id);
    }

    /// Add `bio` to the request of `target`.
    pub(crate) fn grow(&mut self, target: MergeTarget, bio: Bio) {
        let part = self.requests.allocate(bio, self.now);
        self.append(target.request, part);
        if target.side == MergeSide::Front {
            self.merges.remove(&mut self.requests, target.request);
            self.requests[target.request].bio.start = bio.start;
            self.merges.insert(&mut self.requests, target.request);
        }
    }

    /// Add the request `absorbed`, which follows `survivor`, to it.
    pub(crate) fn join(&mut self, survivor: RequestId, absorbed: RequestId) {
        self.merges.remove(&mut self.requests, absorbed);
        let bio = self.requests[absorbed].bio;
        self.free_allocation(&bio);
        self.append(survivor, absorbed);
    }

    fn append(&mut self, survivor: RequestId, part: RequestId) {
        self.merges.remove(&mut self.requests, survivor);
        self.requests.chain(survivor, part);
        self.requests[survivor].bio.sectors += self.requests[part].bio.sectors;
        self.merges.insert(&mut self.requests, survivor);
        self.merges.last_merge = Some(survivor);
    }

    /// Free a completed request and append the tags of its bios to `tags`.
    pub(crate) fn release(&mut self, id: RequestId, tags: &mut Vec<u64>) {
        let bio = self.requests[id].bio;
        self.free_allocation(&bio);
        self.requests.release(id, tags);
    }
}
