//! The legacy deadline scheduler (specification, section 2).

use crate::clock::Hz;
use crate::fifo::Fifo;
use crate::request::{Bio, RequestId};
use crate::scheduler::Scheduler;
use crate::sorted::SortedSet;
use crate::state::QueueState;
use crate::tunables::{Tunable, TunableError, TunableInfo, TunableTable, Unit};

const READ: usize = 0;
const WRITE: usize = 1;
const INT_MAX: i64 = i32::MAX as i64;

#[derive(Clone, Copy, Debug)]
struct Values {
    read_expire: i64,
    write_expire: i64,
    writes_starved: i64,
    fifo_batch: i64,
    front_merges: i64,
}

const TUNABLES: TunableTable<Values> = TunableTable {
    scheduler: "deadline",
    tunables: &[
        Tunable::new("read_expire", Unit::Jiffies, (0, INT_MAX), |v| {
            &mut v.read_expire
        }),
        Tunable::new("write_expire", Unit::Jiffies, (0, INT_MAX), |v| {
            &mut v.write_expire
        }),
        Tunable::new(
            "writes_starved",
            Unit::Count,
            (i32::MIN as i64, INT_MAX),
            |v| &mut v.writes_starved,
        ),
        Tunable::new("fifo_batch", Unit::Count, (0, INT_MAX), |v| {
            &mut v.fifo_batch
        }),
        Tunable::new("front_merges", Unit::Count, (0, 1), |v| &mut v.front_merges),
    ],
};

impl Values {
    fn new(hz: Hz) -> Self {
        let jiffies = |ms| i64::try_from(hz.from_ms(ms)).expect("a small number");
        Self {
            read_expire: jiffies(500),
            write_expire: jiffies(5000),
            writes_starved: 2,
            fifo_batch: 16,
            front_merges: 1,
        }
    }
}

/// Requests of one direction.
#[derive(Debug, Default)]
struct Direction {
    sorted: SortedSet,
    fifo: Fifo,
    next: Option<RequestId>,
}

/// State of deadline.
#[derive(Debug)]
pub struct Deadline {
    values: Values,
    directions: [Direction; 2],
    batch: i64,
    starved: i64,
}

const fn direction(bio: &Bio) -> usize {
    if bio.is_read() { READ } else { WRITE }
}

impl Deadline {
    /// The scheduler for an empty queue.
    #[must_use]
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

    /// The direction of the next batch; it counts how often waiting writes are passed over.
    fn choose_direction(&mut self) -> Option<usize> {
        let [reads, writes] = [READ, WRITE].map(|index| !self.directions[index].fifo.is_empty());
        if reads {
            let write = writes && self.starved >= self.values.writes_starved;
            self.starved += i64::from(writes);
            if !write {
                return Some(READ);
            }
        } else if !writes {
            return None;
        }
        self.starved = 0;
        Some(WRITE)
    }

    /// The first request of a new batch.
    fn begin_batch(&mut self, state: &QueueState) -> Option<RequestId> {
        let chosen = self.choose_direction()?;
        let direction = &self.directions[chosen];
        let oldest = direction.fifo.head()?;
        let expired = state.requests[oldest].deadline <= state.jiffy();
        self.batch = 0;
        direction.next.filter(|_| !expired).or(Some(oldest))
    }

    fn remove(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        let direction = &mut self.directions[direction(&bio)];
        direction.sorted.remove(bio.start, id);
        direction.fifo.remove(&mut state.requests, id);
    }
}

impl Scheduler for Deadline {
    fn name(&self) -> &'static str {
        "deadline"
    }

    fn front_merge(&self, state: &QueueState, bio: &Bio) -> Option<RequestId> {
        if self.values.front_merges == 0 {
            return None;
        }
        let sorted = &self.directions[direction(bio)].sorted;
        sorted
            .find(bio.end())
            .filter(|&id| state.fit_together(id, bio))
    }

    fn front_merged(&mut self, state: &mut QueueState, request: RequestId, old_start: u64) {
        let bio = state.requests[request].bio;
        let sorted = &mut self.directions[direction(&bio)].sorted;
        sorted.remove(old_start, request);
        sorted.insert(bio.start, request);
    }

    fn previous_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        let bio = &state.requests[request].bio;
        let sorted = &self.directions[direction(bio)].sorted;
        sorted.previous(bio.start, request)
    }

    fn next_request(&self, state: &QueueState, request: RequestId) -> Option<RequestId> {
        let bio = &state.requests[request].bio;
        let sorted = &self.directions[direction(bio)].sorted;
        sorted.next(bio.start, request)
    }

    fn joined(&mut self, state: &mut QueueState, survivor: RequestId, absorbed: RequestId) {
        let bio = state.requests[absorbed].bio;
        let direction = &mut self.directions[direction(&bio)];
        if direction.next == Some(absorbed) {
            direction.next = direction.sorted.next(bio.start, absorbed);
        }
        direction.sorted.remove(bio.start, absorbed);
        direction.fifo.join(&mut state.requests, survivor, absorbed);
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        let index = direction(&bio);
        let expire = [self.values.read_expire, self.values.write_expire][index];
        state.requests[id].deadline = state.jiffy() + expire.unsigned_abs();
        let direction = &mut self.directions[index];
        direction.sorted.insert(bio.start, id);
        direction.fifo.push(&mut state.requests, id);
    }

    fn dispatch(&mut self, state: &mut QueueState, _hardware_queue: usize) {
        let Some(id) = self.batch_candidate().or_else(|| self.begin_batch(state)) else {
            return;
        };
        let bio = state.requests[id].bio;
        let index = direction(&bio);
        self.batch += 1;
        self.directions[1 - index].next = None;
        self.directions[index].next = self.directions[index].sorted.next(bio.start, id);
        self.remove(state, id);
        state.dispatch_append(id);
    }

    fn tunables(&self) -> Vec<TunableInfo> {
        TUNABLES.infos()
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
        TUNABLES.write(state.settings.hz, &mut self.values, name, text)
    }
}
