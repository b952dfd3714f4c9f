//! The legacy deadline scheduler (specification, section 2).

use crate::clock::{Hz, Jiffies};
use crate::request::{Bio, RequestId};
use crate::request_set::RequestSet;
use crate::scheduler::Scheduler;
use crate::state::QueueState;
use crate::tunables::{INT_MAX, INT_MIN, TunableError, TunableTable, tunables};

pub const READ: usize = 0;
pub const WRITE: usize = 1;

/// Values of the tunables that [`MqDeadline`](crate::MqDeadline) has too: times in jiffies.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    pub read_expire: i64,
    pub write_expire: i64,
    pub writes_starved: i64,
    pub fifo_batch: i64,
    pub front_merges: i64,
}

const TUNABLES: TunableTable<Values> = tunables!("deadline", Values {
    read_expire: Jiffies 0..=INT_MAX;
    write_expire: Jiffies 0..=INT_MAX;
    writes_starved: Number INT_MIN..=INT_MAX;
    fifo_batch: Number 0..=INT_MAX;
    front_merges: Number 0..=1;
});

impl Values {
    pub fn new(hz: Hz) -> Self {
        let jiffies = |ms| i64::try_from(hz.from_ms(ms)).expect("a small number");
        Self {
            read_expire: jiffies(500),
            write_expire: jiffies(5000),
            writes_starved: 2,
            fifo_batch: 16,
            front_merges: 1,
        }
    }

    /// Time from the arrival of a request to its deadline.
    pub const fn expire(&self, direction: usize) -> Jiffies {
        [self.read_expire, self.write_expire][direction].unsigned_abs()
    }

    /// The direction of the next batch, if there are reads or writes. `starved` counts how often
    /// waiting writes are passed over.
    pub fn choose_direction(&self, waiting: [bool; 2], starved: &mut i64) -> Option<usize> {
        let [reads, writes] = waiting;
        if reads {
            let write = writes && *starved >= self.writes_starved;
            *starved += i64::from(writes);
            if !write {
                return Some(READ);
            }
        } else if !writes {
            return None;
        }
        *starved = 0;
        Some(WRITE)
    }
}

/// State of deadline.
#[derive(Debug)]
pub struct Deadline {
    values: Values,
    directions: [RequestSet; 2],
    batch: i64,
    starved: i64,
}

pub const fn direction(bio: &Bio) -> usize {
    if bio.is_read() { READ } else { WRITE }
}

impl Deadline {
    /// The scheduler for an empty queue.
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        Box::new(Self {
            values: Values::new(state.settings.hz),
            directions: Default::default(),
            batch: 0,
            starved: 0,
        })
    }

    /// The request that continues the batch.
    fn batch_candidate(&self) -> Option<RequestId> {
        let [read, write] = &self.directions;
        let candidate = write.next.or(read.next)?;
        (self.batch < self.values.fifo_batch).then_some(candidate)
    }

    /// The first request of a new batch.
    fn begin_batch(&mut self, state: &QueueState) -> Option<RequestId> {
        let waiting = self.directions.each_ref().map(|set| !set.is_empty());
        let chosen = self.values.choose_direction(waiting, &mut self.starved)?;
        let set = &self.directions[chosen];
        let oldest = set.fifo.head()?;
        let expired = state.requests[oldest].deadline <= state.jiffy();
        self.batch = 0;
        set.next.filter(|_| !expired).or(Some(oldest))
    }
}

impl Scheduler for Deadline {
    fn name(&self) -> &'static str {
        "deadline"
    }

    fn front_merge(&self, bio: &Bio) -> Option<RequestId> {
        let set = &self.directions[direction(bio)];
        let found = set.sorted.find(bio.end());
        found.filter(|_| self.values.front_merges != 0)
    }

    fn set_of(&self, state: &QueueState, request: RequestId) -> Option<&RequestSet> {
        Some(&self.directions[direction(&state.requests[request].bio)])
    }

    fn set_of_mut(&mut self, state: &QueueState, request: RequestId) -> Option<&mut RequestSet> {
        Some(&mut self.directions[direction(&state.requests[request].bio)])
    }

    fn joined(&mut self, state: &mut QueueState, survivor: RequestId, absorbed: RequestId) {
        let set = &mut self.directions[direction(&state.requests[absorbed].bio)];
        set.join(&mut state.requests, survivor, absorbed, |set, pool| {
            set.above(pool, absorbed)
        });
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let direction = direction(&state.requests[id].bio);
        state.requests[id].deadline = state.jiffy() + self.values.expire(direction);
        self.directions[direction].insert(&mut state.requests, id);
    }

    fn dispatch(&mut self, state: &mut QueueState) {
        let Some(id) = self.batch_candidate().or_else(|| self.begin_batch(state)) else {
            return;
        };
        let direction = direction(&state.requests[id].bio);
        self.batch += 1;
        self.directions[1 - direction].next = None;
        let set = &mut self.directions[direction];
        set.next = set.above(&state.requests, id);
        set.remove(&mut state.requests, id);
        state.dispatch_append(id);
    }

    fn tune(&mut self, state: &QueueState, name: &str, text: &str) -> Result<(), TunableError> {
        TUNABLES.write(state.settings.hz, &mut self.values, name, text)
    }
}
