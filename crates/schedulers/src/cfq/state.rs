//! State of CFQ, and the places of queues in their trees (specification, sections 4.1 and
//! 4.3).

use super::queue::{self, Queue, QueueLookup, TreeKind, Trees};
use super::values::Values;
use crate::averages::Average;
use crate::clock::Nanos;
use crate::request::{Bio, PriorityClass};
use crate::request_set::HeadRule;
use crate::scheduler::Scheduler;
use crate::state::QueueState;

/// Release of Linux whose rules apply. Each rule that differs tests it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Jiffies, a tree per class, and idling for random readers too.
    V2_6_32,
    /// Nanoseconds, and three trees per class, which are served for a time each. Later ones too.
    V4_14,
}

/// The tree that is served, and smoothed numbers of queues.
#[derive(Debug, Default)]
pub struct Workload {
    pub tree: Option<usize>,
    /// Class of the tree; none to choose the kind anew.
    pub class: Option<PriorityClass>,
    pub end: i64,
    /// Smoothed number of queues per class.
    pub average_queues: [i64; 3],
}

impl Workload {
    pub fn is_no_idle(&self) -> bool {
        let no_idle = |class| self.tree == Some(queue::index(class, TreeKind::SyncNoIdle));
        no_idle(PriorityClass::RealTime) || no_idle(PriorityClass::BestEffort)
    }
}

/// Estimate whether the device takes several commands.
#[derive(Debug, Default)]
pub struct CommandQueueing {
    pub known: Option<bool>,
    pub peak: i64,
    pub samples: u32,
}

impl CommandQueueing {
    /// Whether the device has command queueing, or this is unknown.
    pub fn assumed(&self) -> bool {
        self.known.unwrap_or(true)
    }
}

/// State of CFQ. Times are in nanoseconds, or in jiffies in 2.6.32.
#[derive(Debug)]
pub struct Cfq {
    pub(super) release: Release,
    pub(super) values: Values,
    /// A second in the unit of times.
    second: i64,
    pub(super) queues: Vec<Queue>,
    pub(super) lookup: QueueLookup,
    pub(super) trees: Trees,
    pub(super) workload: Workload,
    pub(super) active: Option<u32>,
    pub(super) timer: Option<i64>,
    /// End of the request that the driver took last.
    pub(super) last_position: u64,
    pub(super) queued: i64,
    /// Requests that the driver took: async and sync ones.
    pub(super) in_driver: [i64; 2],
    /// Dispatched and not completed: async and sync requests.
    pub(super) in_flight: [i64; 2],
    pub(super) group_think: Average,
    pub(super) group_last_completion: i64,
    /// Time of the last sync completion; since 4.14, of one that was delayed.
    pub(super) last_sync: i64,
    pub(super) command_queueing: CommandQueueing,
}

/// A time as a signed number, because keys may be before the start.
pub fn signed(time: Nanos) -> i64 {
    i64::try_from(time).expect("below 292 years")
}

impl Cfq {
    /// The scheduler of Linux 4.14 and later for an empty queue.
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        Box::new(Self::new(Release::V4_14, state))
    }

    /// The scheduler of Linux 2.6.32 for an empty queue.
    pub fn build_2_6_32(state: &QueueState) -> Box<dyn Scheduler> {
        Box::new(Self::new(Release::V2_6_32, state))
    }

    fn new(release: Release, state: &QueueState) -> Self {
        let settings = &state.settings;
        let (now, second, values) = match release {
            Release::V2_6_32 => (
                signed(state.jiffy()),
                signed(settings.hz.seconds(1)),
                Values::of_2_6_32(settings.hz),
            ),
            Release::V4_14 => (
                signed(state.now),
                signed(crate::clock::SECOND),
                Values::new(settings.rotational),
            ),
        };
        let mut trees = Trees::default();
        for tree in &mut trees.0 {
            tree.last_completion = now;
        }
        Self {
            release,
            values,
            second,
            queues: Vec::new(),
            lookup: QueueLookup::default(),
            trees,
            workload: Workload::default(),
            active: None,
            timer: None,
            last_position: 0,
            queued: 0,
            in_driver: [0; 2],
            in_flight: [0; 2],
            group_think: Average::default(),
            group_last_completion: now,
            last_sync: match release {
                Release::V2_6_32 => now,
                Release::V4_14 => now - second,
            },
            command_queueing: CommandQueueing::default(),
        }
    }

    pub(super) const fn is_2_6_32(&self) -> bool {
        matches!(self.release, Release::V2_6_32)
    }

    /// The time of a call.
    pub(super) fn now(&self, state: &QueueState) -> i64 {
        signed(match self.release {
            Release::V2_6_32 => state.jiffy(),
            Release::V4_14 => state.now,
        })
    }

    pub(super) fn queue(&self, index: u32) -> &Queue {
        &self.queues[index as usize]
    }

    pub(super) fn queue_mut(&mut self, index: u32) -> &mut Queue {
        &mut self.queues[index as usize]
    }

    pub(super) const fn rule(&self, head: u64) -> HeadRule {
        HeadRule {
            head,
            back_limit: self.values.back_seek_max.unsigned_abs(),
            back_penalty: self.values.back_seek_penalty.unsigned_abs(),
            metadata_first: true,
        }
    }

    /// Rule for the successor of a request that begins at `start`.
    pub(super) const fn successor_rule(&self, start: u64) -> HeadRule {
        self.rule(match self.release {
            Release::V2_6_32 => self.last_position,
            Release::V4_14 => start,
        })
    }

    /// The queue of `bio`, which is made if it does not exist.
    pub(super) fn queue_for(&mut self, bio: &Bio, now: i64) -> u32 {
        self.lookup.find(bio).unwrap_or_else(|| {
            let index = u32::try_from(self.queues.len()).expect("fewer than 2^32 queues");
            let queue = Queue::new(bio.is_sync(), bio.priority, now);
            self.queues.push(queue);
            self.lookup.insert(bio, index);
            index
        })
    }

    /// The tree that a queue joins.
    fn tree_for(&self, index: u32) -> usize {
        let queue = self.queue(index);
        let kind = match self.release {
            Release::V2_6_32 => TreeKind::Sync,
            Release::V4_14 => queue.kind(),
        };
        queue::index(queue.priority.class, kind)
    }

    /// Add a queue to its tree with a normal key, or move it there (section 4.3).
    pub(super) fn place(&mut self, index: u32, now: i64) {
        let is_busy = self.queue(index).tree.is_some() || self.is_2_6_32();
        self.leave_tree(index);
        let others = self.trees.busy() - i64::from(!is_busy);
        let top = self.values.base_slice(true, 0);
        let tree = self.tree_for(index);
        let queue = &mut self.queues[index as usize];
        let key = if queue.idle_class() {
            let last = match self.release {
                Release::V2_6_32 => self.trees.last_key(),
                Release::V4_14 => self.trees.0[tree].last_key(),
            };
            last.unwrap_or(now) + self.second / 5
        } else {
            let slice = self.values.base_slice(queue.sync, queue.priority.level);
            now + others * (top - slice) - std::mem::take(&mut queue.residual)
        };
        queue.tree = Some(tree);
        self.trees.0[tree].insert(key, index);
    }

    /// Move a queue to the front of its tree.
    pub(super) fn place_in_front(&mut self, index: u32, now: i64) {
        let tree = self.tree_for(index);
        let first = self.trees.0[tree].first().map_or(now, |(key, _)| key);
        self.leave_tree(index);
        self.trees.0[tree].insert(first - self.second, index);
        self.queue_mut(index).tree = Some(tree);
    }

    pub(super) fn leave_tree(&mut self, index: u32) {
        if let Some(tree) = self.queue_mut(index).tree.take() {
            self.trees.0[tree].remove(index);
        }
    }

    /// End the slice of the active queue.
    pub(super) fn expire(&mut self, index: u32, timed_out: bool, now: i64) {
        self.timer = None;
        self.active = None;
        let (values, is_2_6_32) = (self.values, self.is_2_6_32());
        let queue = self.queue_mut(index);
        queue.waiting = false;
        queue.wait_busy = false;
        if timed_out && !queue.new_slice {
            queue.residual = queue.slice_end - now;
        } else if timed_out && !is_2_6_32 {
            queue.residual = values.base_slice(queue.sync, queue.priority.level);
        }
        if queue.requests.is_empty() {
            self.leave_tree(index);
        } else {
            self.place(index, now);
        }
    }
}
