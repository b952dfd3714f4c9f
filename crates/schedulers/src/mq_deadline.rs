//! The mq-deadline scheduler of recent Linux 6.x (specification, section 6).
//!
//! The specification marks as unverified in which releases the priorities and their aging came, and
//! the default of `async_depth` changed: here it is `nr_requests`. Zoned devices are not modelled.

use crate::clock::Jiffies;
use crate::deadline::{self, READ, WRITE, direction};
use crate::request::{Bio, RequestId};
use crate::request_set::RequestSet;
use crate::scheduler::Scheduler;
use crate::state::QueueState;
use crate::tunables::{INT_MAX, INT_MIN, TunableError, TunableTable, tunables};

/// Values of the tunables: times in jiffies.
#[derive(Clone, Copy, Debug)]
struct Values {
    batches: deadline::Values,
    async_depth: i64,
    prio_aging_expire: i64,
}

const TUNABLES: TunableTable<Values> = tunables!("mq-deadline", Values {
    read_expire in batches.read_expire: Jiffies 0..=INT_MAX;
    write_expire in batches.write_expire: Jiffies 0..=INT_MAX;
    writes_starved in batches.writes_starved: Number INT_MIN..=INT_MAX;
    fifo_batch in batches.fifo_batch: Number 0..=INT_MAX;
    front_merges in batches.front_merges: Number 0..=1;
    async_depth: Number 1..=INT_MAX;
    prio_aging_expire: Jiffies 0..=INT_MAX;
});

fn signed(jiffies: Jiffies) -> i64 {
    i64::try_from(jiffies).unwrap_or(i64::MAX)
}

/// Requests of one direction and priority class.
#[derive(Debug, Default)]
struct Lane {
    set: RequestSet,
    /// First sector of the last dispatched request.
    position: u64,
}

impl Lane {
    /// The next request of a batch: the first one at or after the position.
    fn next(&self) -> Option<RequestId> {
        self.set.sorted.at_or_above(self.position)
    }
}

/// Requests of a priority class.
#[derive(Debug, Default)]
struct Level {
    lanes: [Lane; 2],
    /// Inserted and not completed.
    queued: u32,
}

/// State of mq-deadline.
#[derive(Debug)]
pub struct MqDeadline {
    values: Values,
    nr_requests: i64,
    levels: [Level; 3],
    last_direction: usize,
    batch: i64,
    starved: i64,
    /// Allocated writes, which `async_depth` limits.
    writes: u32,
}

impl MqDeadline {
    /// The scheduler for an empty queue.
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        let settings = &state.settings;
        Box::new(Self {
            values: Values {
                batches: deadline::Values::new(settings.hz),
                async_depth: i64::from(settings.nr_requests),
                prio_aging_expire: signed(settings.hz.seconds(10)),
            },
            nr_requests: i64::from(settings.nr_requests.max(1)),
            levels: Default::default(),
            last_direction: WRITE,
            batch: 0,
            starved: 0,
            writes: 0,
        })
    }

    fn lane(&self, bio: &Bio) -> &Lane {
        &self.levels[level(bio)].lanes[direction(bio)]
    }

    fn lane_mut(&mut self, bio: &Bio) -> &mut Lane {
        &mut self.levels[level(bio)].lanes[direction(bio)]
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
        let id = self.continue_or_begin_batch(state, level)?;
        let expire = signed(self.values.batches.expire(self.last_direction));
        if signed(state.requests[id].deadline) - expire > limit {
            return None;
        }
        self.batch += 1;
        let lane = &mut self.levels[level].lanes[self.last_direction];
        lane.position = state.requests[id].bio.start;
        lane.set.remove(&mut state.requests, id);
        Some(id)
    }

    fn continue_or_begin_batch(&mut self, state: &QueueState, level: usize) -> Option<RequestId> {
        let lanes = &self.levels[level].lanes;
        if self.batch < self.values.batches.fifo_batch
            && let Some(next) = lanes[self.last_direction].next()
        {
            return Some(next);
        }
        let waiting = [READ, WRITE].map(|direction| !lanes[direction].set.is_empty());
        let batches = &self.values.batches;
        let direction = batches.choose_direction(waiting, &mut self.starved)?;
        let lane = &lanes[direction];
        let oldest = lane.set.fifo.head()?;
        let expired = state.jiffy() >= state.requests[oldest].deadline;
        self.last_direction = direction;
        self.batch = 0;
        lane.next().filter(|_| !expired).or(Some(oldest))
    }

    /// Count a request that is no longer allocated.
    fn release(&mut self, bio: &Bio) {
        self.levels[level(bio)].queued -= 1;
        self.writes -= u32::from(!bio.is_read());
    }
}

const fn level(bio: &Bio) -> usize {
    bio.priority.class as usize
}

impl Scheduler for MqDeadline {
    fn name(&self) -> &'static str {
        "mq-deadline"
    }

    fn may_allocate(&self, state: &QueueState, bio: &Bio) -> bool {
        let permitted = bio.is_read() || i64::from(self.writes) < self.values.async_depth;
        permitted && state.has_tag()
    }

    fn front_merge(&self, bio: &Bio) -> Option<RequestId> {
        let found = self.lane(bio).set.sorted.find(bio.end());
        found.filter(|_| self.values.batches.front_merges != 0)
    }

    fn permits_merge(&self, state: &QueueState, request: RequestId, bio: &Bio) -> bool {
        state.requests[request].bio.priority.class == bio.priority.class
    }

    fn set_of(&self, state: &QueueState, request: RequestId) -> Option<&RequestSet> {
        Some(&self.lane(&state.requests[request].bio).set)
    }

    fn set_of_mut(&mut self, state: &QueueState, request: RequestId) -> Option<&mut RequestSet> {
        Some(&mut self.lane_mut(&state.requests[request].bio).set)
    }

    fn joined(&mut self, state: &mut QueueState, survivor: RequestId, absorbed: RequestId) {
        let bio = state.requests[absorbed].bio;
        let set = &mut self.lane_mut(&bio).set;
        set.join(&mut state.requests, survivor, absorbed, |_, _| None);
        self.release(&bio);
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        let expire = self.values.batches.expire(direction(&bio));
        state.requests[id].deadline = state.jiffy() + expire;
        self.writes += u32::from(!bio.is_read());
        self.levels[level(&bio)].queued += 1;
        self.lane_mut(&bio).set.insert(&mut state.requests, id);
    }

    fn dispatch(&mut self, state: &mut QueueState) {
        if let Some(id) = self.choose(state) {
            state.dispatch_append(id);
        }
    }

    fn complete(&mut self, state: &mut QueueState, id: RequestId) {
        self.release(&state.requests[id].bio);
    }

    fn tune(&mut self, state: &QueueState, name: &str, text: &str) -> Result<(), TunableError> {
        TUNABLES.write(state.settings.hz, &mut self.values, name, text)?;
        self.values.async_depth = self.values.async_depth.min(self.nr_requests);
        Ok(())
    }
}
