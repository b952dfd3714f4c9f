//! Requests and history of one process, or of the async requests of a priority.

use super::raising::Raising;
use super::service_tree::{Entity, Place};
use crate::averages::Average;
use crate::clock::{MILLISECOND, Nanos};
use crate::request::{Bio, Priority, PriorityClass, RequestId, RequestPool};
use crate::request_set::{HeadRule, RequestSet};

/// Distance in sectors above which a request is a seek.
pub const SEEK_DISTANCE: u64 = 800;

/// Sectors below which a distant request is a seek on a medium that does not rotate.
pub const SMALL_REQUEST: u32 = 64;

/// Seeks among the last 32 requests that make a queue seeky.
const SEEKY: u32 = 19;

const IO_WINDOW: Nanos = 200 * MILLISECOND;

/// Time since the first service after which a queue is too old to be merged.
const MERGE_AGE: Nanos = 100 * MILLISECOND;

/// A queue.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the specification"
)]
#[derive(Debug)]
pub struct Queue {
    pub priority: Priority,
    pub sync: bool,
    pub entity: Entity,
    pub requests: RequestSet,
    pub in_device: u32,
    /// Largest budget that the queue's own history justifies, in sectors.
    pub own_max_budget: u64,
    /// Whether the queue expired while empty and its process is expected back.
    pub waited_for: bool,
    pub raising: Raising,
    pub short_think: bool,
    pub io_bound: bool,
    pub last_completion: Option<Nanos>,
    pub first_service: Option<Nanos>,
    /// Processes that use the queue.
    pub processes: u32,
    /// Whether a merge made the queue serve several processes.
    pub shared: bool,
    /// Whether its processes leave it at their next request.
    pub split: bool,
    /// Class, weight and raising factor with which the queue counts as busy.
    pub counted: Option<(PriorityClass, u32, u32)>,
    seeks: u32,
    last_end: Option<u64>,
    think: Average,
    window_start: Nanos,
    window_idle: Nanos,
}

impl Queue {
    pub fn new(priority: Priority, sync: bool, own_max_budget: u64, now: Nanos) -> Self {
        Self {
            priority,
            sync,
            entity: Entity::default(),
            requests: RequestSet::default(),
            in_device: 0,
            own_max_budget,
            waited_for: false,
            raising: Raising::default(),
            short_think: true,
            io_bound: true,
            last_completion: None,
            first_service: None,
            processes: 0,
            shared: false,
            split: false,
            counted: None,
            seeks: 1,
            last_end: None,
            think: Average::default(),
            window_start: now,
            window_idle: 0,
        }
    }

    /// Index of its service tree.
    pub const fn class(&self) -> usize {
        self.priority.class as usize
    }

    /// Weight without raising.
    pub const fn base_weight(&self) -> u32 {
        let level = if self.priority.level < 8 {
            self.priority.level
        } else {
            7
        };
        (8 - level as u32) * 10
    }

    /// Weight with raising.
    pub const fn weight(&self) -> u32 {
        self.base_weight() * self.raising.factor()
    }

    pub const fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Whether it waits for service or is in service.
    pub const fn is_busy(&self) -> bool {
        matches!(self.entity.place(), Place::Active | Place::InService)
    }

    /// Whether it has requests neither queued nor in the device.
    pub const fn is_quiet(&self) -> bool {
        self.requests.is_empty() && self.in_device == 0
    }

    pub const fn is_seeky(&self) -> bool {
        self.seeks.count_ones() > SEEKY
    }

    /// Whether all of the last 32 requests were seeks.
    pub const fn only_seeks(&self) -> bool {
        self.seeks == u32::MAX
    }

    /// Whether it is young enough to be merged.
    pub fn is_mergeable(&self, now: Nanos) -> bool {
        let young = self
            .first_service
            .is_none_or(|first| now - first < MERGE_AGE);
        self.sync && young && !self.is_seeky()
    }

    /// Learn from the arrival of `bio`, before it is queued.
    pub fn observe(&mut self, bio: &Bio, now: Nanos, rotational: bool, slice_idle: Nanos) {
        if self.is_quiet() {
            let idle = self.last_completion.map(|last| now - last);
            self.window_idle += idle.unwrap_or(0);
            if !self.is_busy() {
                let longest = 2 * slice_idle;
                self.think
                    .add_think_time(idle.unwrap_or(longest).min(longest));
            }
        }
        self.short_think = !(self.think.valid() && self.think.mean > slice_idle / 2);
        self.judge_io_bound(now);
        let distance = self.last_end.map_or(0, |end| end.abs_diff(bio.start));
        let seek = distance > SEEK_DISTANCE && (rotational || bio.sectors < SMALL_REQUEST);
        self.seeks = self.seeks << 1 | u32::from(seek);
        self.last_end = Some(bio.end());
    }

    /// A queue is I/O bound unless it was idle for more than a fifth of its window, which shrinks to
    /// its newer half at 200 ms. Linux 6.18 judges from the second request on.
    fn judge_io_bound(&mut self, now: Nanos) {
        let window = now - self.window_start;
        self.io_bound = self.window_idle * 5 <= window;
        if window >= IO_WINDOW {
            self.window_start = now - window / 2;
            self.window_idle /= 2;
        }
    }

    /// Queue `id`.
    pub fn add(&mut self, pool: &mut RequestPool, id: RequestId, rule: &HeadRule) {
        self.requests.insert(pool, id);
        self.requests.next = rule.choose(pool, self.requests.next, Some(id));
    }

    /// Remove `id` and choose the request after it; `fifo_due` is the time up to which an expired
    /// oldest request takes its place.
    pub fn remove(
        &mut self,
        pool: &mut RequestPool,
        id: RequestId,
        rule: &HeadRule,
        fifo_due: Option<Nanos>,
    ) {
        let requests = &mut self.requests;
        requests.next = requests.successor(rule, pool, id);
        requests.remove(pool, id);
        if let (Some(now), Some(oldest)) = (fifo_due, requests.fifo.head())
            && pool[oldest].deadline <= now
        {
            requests.next = Some(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::ProcessId;

    #[test]
    fn section_8_4_the_second_request_decides_whether_a_queue_is_io_bound() {
        let bio = Bio::read(ProcessId(0), 0, 8);
        let arrive = |idle: Nanos| {
            let mut queue = Queue::new(Priority::default(), true, 0, 0);
            queue.last_completion = Some(4 * MILLISECOND);
            queue.observe(&bio, 4 * MILLISECOND + idle, true, 8 * MILLISECOND);
            queue.io_bound
        };
        assert!(arrive(MILLISECOND) && !arrive(2 * MILLISECOND));
    }

    /// As in the kernel's log: the flag is off at the third and fourth request.
    #[test]
    fn section_8_1_a_first_request_counts_as_the_longest_think_time() {
        let bio = Bio::read(ProcessId(0), 0, 8);
        let mut queue = Queue::new(Priority::default(), true, 0, 0);
        let mut now = 0;
        let flags = std::array::from_fn(|_| {
            queue.observe(&bio, now, true, 8 * MILLISECOND);
            queue.last_completion = Some(now + 10 * MILLISECOND);
            now += 11 * MILLISECOND;
            queue.short_think
        });
        assert_eq!(flags, [true, true, false, false, true]);
    }
}
