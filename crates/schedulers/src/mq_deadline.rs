//! The mq-deadline scheduler (specification, section 6).
//!
//! Two forms differ in how a batch continues: the pointer form (5.x to early 6.x) and
//! the position form (recent 6.x). The specification marks as unverified in which releases the
//! position form, the priorities, the aging and the default of `async_depth` changed. Here both
//! forms have priorities with aging; `async_depth` starts at three quarters of `nr_requests` in
//! the pointer form, and at `nr_requests` in the position form. Commands that are neither reads,
//! writes nor discards are inserted at the head. Zoned devices are not modelled.

use crate::clock::{Hz, Jiffies};
use crate::fifo::Fifo;
use crate::request::{Bio, Operation, RequestId};
use crate::scheduler::Scheduler;
use crate::sorted::SortedSet;
use crate::state::QueueState;
use crate::tunables::{Tunable, TunableError, TunableInfo, TunableTable, Unit};

const READ: usize = 0;
const WRITE: usize = 1;
const HEAD: u32 = 2;
const LIMIT: i64 = i32::MAX as i64;

/// How a batch finds its next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sweep {
    /// The successor at the time of the last dispatch.
    Pointer,
    /// The first request at or after the start of the last one, at the time of the decision.
    Position,
}

/// Values of the tunables.
#[derive(Clone, Copy, Debug)]
struct Values {
    read_expire: i64,
    write_expire: i64,
    writes_starved: i64,
    fifo_batch: i64,
    front_merges: i64,
    async_depth: i64,
    prio_aging_expire: i64,
}

impl Values {
    fn new(hz: Hz, nr_requests: u32, sweep: Sweep) -> Self {
        let depth = match sweep {
            Sweep::Pointer => (i64::from(nr_requests) * 3 / 4).max(1),
            Sweep::Position => i64::from(nr_requests),
        };
        Self {
            read_expire: signed(hz.over(2)),
            write_expire: signed(hz.seconds(5)),
            writes_starved: 2,
            fifo_batch: 16,
            front_merges: 1,
            async_depth: depth,
            prio_aging_expire: signed(hz.seconds(10)),
        }
    }

    const fn expire(&self, direction: usize) -> i64 {
        [self.read_expire, self.write_expire][direction]
    }
}

static TUNABLES: TunableTable<Values> = TunableTable {
    scheduler: "mq-deadline",
    tunables: &[
        Tunable::new("read_expire", Unit::Jiffies, (0, LIMIT), |v| {
            &mut v.read_expire
        }),
        Tunable::new("write_expire", Unit::Jiffies, (0, LIMIT), |v| {
            &mut v.write_expire
        }),
        Tunable::new("writes_starved", Unit::Count, (-LIMIT - 1, LIMIT), |v| {
            &mut v.writes_starved
        }),
        Tunable::new("fifo_batch", Unit::Count, (0, LIMIT), |v| &mut v.fifo_batch),
        Tunable::new("front_merges", Unit::Count, (0, 1), |v| &mut v.front_merges),
        Tunable::new("async_depth", Unit::Count, (1, LIMIT), |v| {
            &mut v.async_depth
        }),
        Tunable::new("prio_aging_expire", Unit::Jiffies, (0, LIMIT), |v| {
            &mut v.prio_aging_expire
        }),
    ],
};

fn signed(jiffies: Jiffies) -> i64 {
    i64::try_from(jiffies).unwrap_or(i64::MAX)
}

/// Requests of one direction and priority class.
#[derive(Debug, Default)]
struct Lane {
    sorted: SortedSet,
    fifo: Fifo,
    position: u64,
    pointer: Option<RequestId>,
}

/// Requests of a priority class.
#[derive(Debug, Default)]
struct Level {
    head: Fifo,
    lanes: [Lane; 2],
    /// Inserted and not completed.
    queued: u32,
}

/// State of mq-deadline.
#[derive(Debug)]
pub struct MqDeadline {
    sweep: Sweep,
    values: Values,
    nr_requests: i64,
    levels: [Level; 3],
    last_direction: usize,
    batch: i64,
    starved: i64,
    /// Allocated writes and async requests per hardware queue.
    limited: Vec<u32>,
}

impl MqDeadline {
    /// The position form (recent 6.x) for an empty queue.
    #[must_use]
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        Box::new(Self::new(state, Sweep::Position))
    }

    /// The pointer form (5.x to early 6.x) for an empty queue.
    #[must_use]
    pub fn build_pointer_form(state: &QueueState) -> Box<dyn Scheduler> {
        Box::new(Self::new(state, Sweep::Pointer))
    }

    fn new(state: &QueueState, sweep: Sweep) -> Self {
        let settings = &state.settings;
        Self {
            sweep,
            values: Values::new(settings.hz, settings.nr_requests, sweep),
            nr_requests: i64::from(settings.nr_requests.max(1)),
            levels: Default::default(),
            last_direction: WRITE,
            batch: 0,
            starved: 0,
            limited: vec![0; usize::from(settings.hardware_queues.max(1))],
        }
    }

    /// Lane and level of a sorted request.
    fn lane(&self, state: &QueueState, id: RequestId) -> Option<&Lane> {
        let request = &state.requests[id];
        let direction = usize::try_from(request.queue).ok()?;
        self.levels[level(&request.bio)].lanes.get(direction)
    }

    fn lane_mut(&mut self, state: &QueueState, id: RequestId) -> Option<&mut Lane> {
        let request = &state.requests[id];
        let direction = usize::try_from(request.queue).ok()?;
        self.levels[level(&request.bio)].lanes.get_mut(direction)
    }

    /// Next request of a batch.
    fn next(&self, level: usize, direction: usize) -> Option<RequestId> {
        let lane = &self.levels[level].lanes[direction];
        match self.sweep {
            Sweep::Pointer => lane.pointer,
            Sweep::Position => lane.sorted.at_or_above(lane.position),
        }
    }

    /// The request that the scheduler chooses (steps A and B).
    fn choose(&mut self, state: &mut QueueState) -> Option<RequestId> {
        let now = signed(state.jiffy());
        let waiting = self.levels.iter().filter(|level| level.queued > 0).count();
        if waiting >= 2 {
            let limit = now - self.values.prio_aging_expire;
            let aged = (1..3).find_map(|level| self.try_level(state, level, limit));
            if aged.is_some() {
                return aged;
            }
        }
        for level in 0..3 {
            let chosen = self.try_level(state, level, now);
            if chosen.is_some() || self.levels[level].queued > 0 {
                return chosen;
            }
        }
        None
    }

    /// Remove the next request of a level, unless it was inserted after `limit` (step C).
    fn try_level(&mut self, state: &mut QueueState, level: usize, limit: i64) -> Option<RequestId> {
        if let Some(id) = self.levels[level].head.head() {
            return (signed(state.requests[id].deadline) <= limit).then(|| {
                self.levels[level].head.remove(&mut state.requests, id);
                id
            });
        }
        let id = self.continue_or_begin_batch(state, level)?;
        let inserted =
            signed(state.requests[id].deadline) - self.values.expire(self.last_direction);
        if inserted > limit {
            return None;
        }
        self.batch += 1;
        self.take(state, level, id);
        Some(id)
    }

    fn continue_or_begin_batch(&mut self, state: &QueueState, level: usize) -> Option<RequestId> {
        if self.batch < self.values.fifo_batch
            && let Some(next) = self.next(level, self.last_direction)
        {
            return Some(next);
        }
        let direction = self.choose_direction(level)?;
        let lane = &self.levels[level].lanes[direction];
        let oldest = lane.fifo.head()?;
        let expired = state.jiffy() >= state.requests[oldest].deadline;
        let next = self.next(level, direction).filter(|_| !expired);
        self.last_direction = direction;
        self.batch = 0;
        Some(next.unwrap_or(oldest))
    }

    fn choose_direction(&mut self, level: usize) -> Option<usize> {
        let lanes = &self.levels[level].lanes;
        let [reads, writes] = [READ, WRITE].map(|direction| !lanes[direction].fifo.is_empty());
        if reads {
            if !writes {
                return Some(READ);
            }
            let starved = self.starved;
            self.starved += 1;
            if starved < self.values.writes_starved {
                return Some(READ);
            }
        } else if !writes {
            return None;
        }
        self.starved = 0;
        Some(WRITE)
    }

    /// Remove `id`, of the last direction, and remember where the sweep is.
    fn take(&mut self, state: &mut QueueState, level: usize, id: RequestId) {
        let start = state.requests[id].bio.start;
        let lane = &mut self.levels[level].lanes[self.last_direction];
        lane.pointer = lane.sorted.next(start, id);
        lane.position = start;
        lane.sorted.remove(start, id);
        lane.fifo.remove(&mut state.requests, id);
    }
}

const fn level(bio: &Bio) -> usize {
    bio.priority.class as usize
}

/// Whether only `async_depth` tags serve such requests.
const fn is_limited(bio: &Bio) -> bool {
    !bio.is_read()
}

impl Scheduler for MqDeadline {
    fn name(&self) -> &'static str {
        "mq-deadline"
    }

    fn may_allocate(&self, state: &QueueState, bio: &Bio) -> bool {
        let queue = state.hardware_queue(bio.cpu);
        let allocated = state.allocated(queue, true) + state.allocated(queue, false);
        let permitted =
            !is_limited(bio) || i64::from(self.limited[queue]) < self.values.async_depth;
        allocated < state.settings.nr_requests && permitted
    }

    fn front_merge(&self, _state: &QueueState, bio: &Bio) -> Option<RequestId> {
        if self.values.front_merges == 0 {
            return None;
        }
        let direction = usize::from(!bio.is_read());
        self.levels[level(bio)].lanes[direction]
            .sorted
            .find(bio.end())
    }

    fn permits_merge(&self, state: &QueueState, request: RequestId, bio: &Bio) -> bool {
        let request = &state.requests[request];
        request.queue != HEAD && request.bio.priority.class == bio.priority.class
    }

    fn front_merged(&mut self, state: &mut QueueState, request: RequestId, old_start: u64) {
        let start = state.requests[request].bio.start;
        if let Some(lane) = self.lane_mut(state, request) {
            lane.sorted.remove(old_start, request);
            lane.sorted.insert(start, request);
        }
    }

    fn previous_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        let start = state.requests[request].bio.start;
        self.lane(state, request)?.sorted.previous(start, request)
    }

    fn next_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        let start = state.requests[request].bio.start;
        self.lane(state, request)?.sorted.next(start, request)
    }

    fn joined(&mut self, state: &mut QueueState, survivor: RequestId, absorbed: RequestId) {
        let bio = state.requests[absorbed].bio;
        if let Some(lane) = self.lane_mut(state, absorbed) {
            if lane.pointer == Some(absorbed) {
                lane.pointer = lane.sorted.next(bio.start, absorbed);
            }
            lane.sorted.remove(bio.start, absorbed);
            lane.fifo.join(&mut state.requests, survivor, absorbed);
        }
        self.levels[level(&bio)].queued -= 1;
        let queue = state.hardware_queue(bio.cpu);
        self.limited[queue] -= u32::from(is_limited(&bio));
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let now = state.jiffy();
        let bio = state.requests[id].bio;
        self.limited[state.hardware_queue(bio.cpu)] += u32::from(is_limited(&bio));
        let level = &mut self.levels[level(&bio)];
        level.queued += 1;
        if bio.operation == Operation::Other {
            state.requests[id].queue = HEAD;
            state.requests[id].deadline = now;
            level.head.insert_after(&mut state.requests, None, id);
            return;
        }
        let direction = usize::from(!bio.is_read());
        let request = &mut state.requests[id];
        request.queue = u32::from(!bio.is_read());
        request.deadline = now + self.values.expire(direction).unsigned_abs();
        let lane = &mut level.lanes[direction];
        lane.sorted.insert(bio.start, id);
        lane.fifo.push(&mut state.requests, id);
    }

    fn dispatch(&mut self, state: &mut QueueState, _hardware_queue: usize) {
        if let Some(id) = self.choose(state) {
            state.dispatch_append(id);
        }
    }

    fn complete(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        self.levels[level(&bio)].queued -= 1;
        let queue = state.hardware_queue(bio.cpu);
        self.limited[queue] -= u32::from(is_limited(&bio));
    }

    fn tunables(&self) -> Vec<TunableInfo> {
        let depth = self.nr_requests;
        let infos = TUNABLES.infos().into_iter();
        infos
            .map(|info| match info.name {
                "async_depth" => TunableInfo { max: depth, ..info },
                _ => info,
            })
            .collect()
    }

    fn read_tunable(&self, state: &QueueState, name: &str) -> Result<String, TunableError> {
        TUNABLES.read(state.settings.hz, &self.values, name)
    }

    fn write_tunable(
        &mut self,
        state: &mut QueueState,
        name: &str,
        text: &str,
    ) -> Result<(), TunableError> {
        TUNABLES.write(state.settings.hz, &mut self.values, name, text)?;
        self.values.async_depth = self.values.async_depth.min(self.nr_requests);
        Ok(())
    }
}
