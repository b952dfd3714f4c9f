//! Queues of processes and of async requests, and the trees that order them (specification,
//! sections 4.1 and 4.3).

use crate::averages::{Average, limit_seek};
use crate::request::{ASYNC_QUEUES, Bio, Priority, PriorityClass};
use crate::request_set::RequestSet;

/// Distance in sectors that counts as a seek in the history.
const SEEK: u64 = 800;

/// Distance in sectors within which a request is close, and above which a mean distance is a seek.
pub const CLOSE: u64 = 8192;

/// Requests on a non-rotational device below this many sectors count as seeks.
const SMALL: u32 = 64;

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
    pub requests: RequestSet,
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
    pub seek: Average,
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
            requests: RequestSet::default(),
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
            seek: Average::default(),
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
        self.requests.is_empty()
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

    /// Whether more than 4 of the last 32 requests were seeks.
    pub const fn seeky(&self) -> bool {
        self.seek_history.count_ones() > 4
    }

    /// Whether the mean distance is that of seeks (2.6.32).
    pub const fn seeky_by_mean(&self) -> bool {
        self.seek.mean > CLOSE
    }

    /// Distance within which a request is close (2.6.32).
    pub const fn close_distance(&self) -> u64 {
        if self.seek.valid() {
            self.seek.mean
        } else {
            CLOSE
        }
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
        self.seek.add_seek(limit_seek(&self.seek, distance));
        self.last_end = Some(bio.end());
    }
}

/// Whether the mean of `think` is known and above `limit`.
pub fn thinks_longer(think: &Average, limit: i64) -> bool {
    think.valid() && think.mean > limit.unsigned_abs()
}

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

    /// The last key in the order of classes and keys.
    pub fn last_key(&self) -> Option<i64> {
        self.0.iter().rev().find_map(Tree::last_key)
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

/// Index of the queue of each bio.
#[derive(Debug, Default)]
pub struct QueueLookup {
    of_process: Vec<Option<u32>>,
    of_async: [Option<u32>; ASYNC_QUEUES],
}

impl QueueLookup {
    /// The queue of `bio`, if it exists.
    pub fn find(&self, bio: &Bio) -> Option<u32> {
        if bio.is_sync() {
            *self.of_process.get(bio.process.index())?
        } else {
            self.of_async[bio.priority.async_index()]
        }
    }

    /// Note that `queue` is the queue of `bio`.
    pub fn insert(&mut self, bio: &Bio, queue: u32) {
        if !bio.is_sync() {
            self.of_async[bio.priority.async_index()] = Some(queue);
            return;
        }
        let process = bio.process.index();
        if process >= self.of_process.len() {
            self.of_process.resize(process + 1, None);
        }
        self.of_process[process] = Some(queue);
    }
}
