//! Queue of a process, or of all async requests of a priority (specification, section 4.1).

use crate::averages::Average;
use crate::choice::{HeadRule, successors};
use crate::fifo::Fifo;
use crate::request::{Bio, Priority, PriorityClass, RequestId};
use crate::sorted::SortedSet;
use crate::state::QueueState;

/// Distance in sectors that counts as a seek.
const SEEK: u64 = 800;

/// Requests on a non-rotational device below this many sectors count as seeks.
const SMALL: u32 = 64;

/// Requests waiting at once that make a queue deep.
const DEEP: usize = 4;

/// Kind of a service tree, in the order of their choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeKind {
    Async,
    SyncNoIdle,
    Sync,
}

/// Requests of one process, or async requests of one priority.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags of the specification"
)]
#[derive(Debug)]
pub struct Queue {
    pub sorted: SortedSet,
    pub fifo: Fifo,
    pub next: Option<RequestId>,
    pub sync: bool,
    pub priority: Priority,
    /// Requests in the device.
    pub dispatched: i64,
    /// Requests dispatched in this slice.
    pub slice_dispatched: i64,
    pub slice_start: i64,
    pub slice_end: i64,
    /// Unused time of the last slice, or the negative overrun.
    pub residual: i64,
    /// Tree that holds the queue.
    pub tree: Option<usize>,
    pub think: Average,
    pub last_completion: i64,
    last_end: Option<u64>,
    seek_history: u32,
    pub exited: bool,
    pub waiting: bool,
    pub must_dispatch: bool,
    pub fifo_checked: bool,
    pub idle_window: bool,
    pub new_slice: bool,
    pub deep: bool,
    pub wait_busy: bool,
}

impl Queue {
    pub fn new(sync: bool, priority: Priority, now: i64) -> Self {
        Self {
            sorted: SortedSet::default(),
            fifo: Fifo::default(),
            next: None,
            sync,
            priority,
            dispatched: 0,
            slice_dispatched: 0,
            slice_start: 0,
            slice_end: 0,
            residual: 0,
            tree: None,
            think: Average::default(),
            last_completion: now,
            last_end: None,
            seek_history: 0,
            exited: false,
            waiting: false,
            must_dispatch: false,
            fifo_checked: false,
            idle_window: sync && priority.class != PriorityClass::Idle,
            new_slice: false,
            deep: false,
            wait_busy: false,
        }
    }

    pub const fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    pub fn idle_class(&self) -> bool {
        self.priority.class == PriorityClass::Idle
    }

    pub const fn kind(&self) -> TreeKind {
        if !self.sync {
            TreeKind::Async
        } else if self.idle_window {
            TreeKind::Sync
        } else {
            TreeKind::SyncNoIdle
        }
    }

    pub const fn seeky(&self) -> bool {
        self.seek_history.count_ones() > 4
    }

    pub const fn slice_used(&self, now: i64) -> bool {
        !self.new_slice && now >= self.slice_end
    }

    pub fn begin_slice(&mut self) {
        self.slice_start = 0;
        self.slice_end = 0;
        self.slice_dispatched = 0;
        self.waiting = false;
        self.must_dispatch = false;
        self.fifo_checked = false;
        self.new_slice = true;
    }

    /// Whether the mean think time is known and above `limit`.
    pub fn thinks_longer(&self, limit: i64) -> bool {
        thinks_longer(&self.think, limit)
    }

    pub fn update_seeks(&mut self, bio: &Bio, rotational: bool) {
        let distance = self.last_end.map_or(0, |end| end.abs_diff(bio.start));
        let seek = if rotational {
            distance > SEEK
        } else {
            bio.sectors < SMALL
        };
        self.seek_history = self.seek_history << 1 | u32::from(seek);
        self.last_end = Some(bio.end());
    }

    /// Decide whether the device should idle for this queue (section 4.4, step 5).
    pub fn update_idle_window(&mut self, bio: &Bio, slice_idle: i64) {
        if !self.sync || self.idle_class() {
            return;
        }
        self.deep |= self.fifo.len() >= DEEP;
        let last_one = !bio.is_read() && bio.no_idle;
        if last_one || self.exited || slice_idle == 0 || (self.seeky() && !self.deep) {
            self.idle_window = false;
        } else if self.think.valid() {
            self.idle_window = !self.thinks_longer(slice_idle);
        }
    }

    /// The better one of two requests: metadata first, then by distance.
    pub fn choose(
        rule: &HeadRule,
        state: &QueueState,
        first: Option<RequestId>,
        second: Option<RequestId>,
    ) -> Option<RequestId> {
        let metadata = |id: Option<RequestId>| id.map(|id| state.requests[id].bio.metadata);
        match (metadata(first), metadata(second)) {
            (Some(true), Some(false)) => first,
            (Some(false), Some(true)) => second,
            _ => rule.choose(&state.requests, first, second),
        }
    }

    /// The request to serve after `id`, which is in this queue.
    pub fn successor(
        &self,
        rule: &HeadRule,
        state: &QueueState,
        id: RequestId,
    ) -> Option<RequestId> {
        let [next, previous] = successors(&self.sorted, &state.requests, id);
        Self::choose(rule, state, next, previous)
    }

    pub fn remove(&mut self, state: &mut QueueState, id: RequestId) {
        self.sorted.remove(state.requests[id].bio.start, id);
        self.fifo.remove(&mut state.requests, id);
    }
}

/// Whether the mean of `think` is known and above `limit`.
pub fn thinks_longer(think: &Average, limit: i64) -> bool {
    think.valid() && think.mean > limit.unsigned_abs()
}
