//! The anticipatory scheduler of Linux 2.6.32 (specification, section 3).
//!
//! A one-way elevator with batches of sync and async requests. After a sync request it may keep
//! the device idle for a few milliseconds, for the next request of the same process.

mod batch;
mod history;
mod values;

use crate::clock::{Jiffies, Nanos};
use crate::request::{Bio, ProcessId, RequestId};
use crate::request_set::{HeadRule, RequestSet};
use crate::scheduler::Scheduler;
use crate::state::QueueState;
use crate::tunables::TunableError;
use batch::Batch;
use history::History;
use values::{TUNABLES, Values};

/// Sync or async requests.
#[derive(Debug, Default)]
struct Class {
    set: RequestSet,
    /// End of the last dispatched request.
    head: u64,
    last_check: Jiffies,
}

impl Class {
    const fn rule(&self) -> HeadRule {
        HeadRule {
            head: self.head,
            back_limit: 1_048_576,
            back_penalty: 2,
            metadata_first: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Off,
    /// The anticipated process's request is in the device.
    WaitCompletion,
    /// The timer runs.
    WaitNext,
    Finished,
}

/// State of the anticipatory scheduler.
#[derive(Debug)]
pub struct Anticipatory {
    values: Values,
    /// The async and the sync class.
    classes: [Class; 2],
    batch: Batch,
    in_driver: u32,
    history: History,
    status: Status,
    /// The anticipated process.
    process: Option<ProcessId>,
    /// Whether the last request of the anticipated process has completed, at `start`.
    completed: bool,
    start: Jiffies,
    timer: Option<Jiffies>,
}

impl Anticipatory {
    /// The scheduler for an empty queue.
    pub fn build(state: &QueueState) -> Box<dyn Scheduler> {
        let values = Values::new(state.settings.hz);
        let now = state.jiffy();
        let mut classes: [Class; 2] = Default::default();
        for class in &mut classes {
            class.last_check = now;
        }
        Box::new(Self {
            values,
            classes,
            batch: Batch::new(now + values.batch_expire(true)),
            in_driver: 0,
            history: History::default(),
            status: Status::Off,
            process: None,
            completed: false,
            start: 0,
            timer: None,
        })
    }

    const fn waiting(&self) -> bool {
        matches!(self.status, Status::WaitCompletion | Status::WaitNext)
    }

    fn has_requests(&self, sync: bool) -> bool {
        !self.classes[usize::from(sync)].set.is_empty()
    }

    /// Whether `bio` is close to the head, or closer than the seeks of `process` usually are.
    fn close(&mut self, process: ProcessId, bio: &Bio, now: Jiffies, state: &QueueState) -> bool {
        let head = self.classes[usize::from(self.batch.sync)].head;
        let mut distance = 8192;
        if self.status != Status::Off && self.completed {
            let delay = now - self.start;
            if delay > self.values.antic_expire() || delay > state.settings.hz.over(50) {
                return true;
            }
            distance <<= delay.min(40);
        }
        let low = head.saturating_sub(distance / 2);
        let near = (low..=head + distance).contains(&bio.start);
        near || bio.start.abs_diff(head) < self.history.usual_seek(process)
    }

    /// Whether `request`, or the lack of one, ends or prevents a wait for `process` (section 3.5).
    fn breaks_anticipation(
        &mut self,
        state: &QueueState,
        process: ProcessId,
        request: Option<RequestId>,
    ) -> bool {
        let now = state.jiffy();
        let expire = self.values.antic_expire();
        let bio = request.map(|id| state.requests[id].bio);
        let entry = *self.history.process(process);
        if bio.is_some_and(|bio| bio.process == process)
            || (self.completed && now - self.start >= expire)
            || entry.queued + entry.on_dispatch_list > 0
        {
            return true;
        }
        if let Some(bio) = bio.filter(Bio::is_sync)
            && self.close(process, &bio, now, state)
        {
            self.history.update(process, &bio, now, state.settings.hz);
            return true;
        }
        self.history.thinks_too_long(process, expire)
    }

    /// Whether the oldest request of a class has expired; looks once per expire interval.
    fn expired_head(&mut self, state: &QueueState, sync: bool) -> Option<RequestId> {
        let now = state.jiffy();
        let class = &mut self.classes[usize::from(sync)];
        if now - class.last_check < self.values.expire(sync) {
            return None;
        }
        class.last_check = now;
        let head = class.set.fifo.head();
        head.filter(|&id| state.requests[id].deadline < now)
    }

    fn start_waiting(&mut self) {
        if self.process.is_none() || self.completed {
            self.timer = Some(self.start + self.values.antic_expire());
            self.status = Status::WaitNext;
        } else {
            self.status = Status::WaitCompletion;
        }
    }

    /// The request that the rules of the current and the next batch select (section 3.6, steps 3
    /// to 5).
    fn select(&mut self, state: &QueueState) -> Option<RequestId> {
        let (reads, writes) = (self.has_requests(true), self.has_requests(false));
        let now = state.jiffy();
        let mut selected = None;
        if !(reads && writes && self.batch.expired(now)) {
            selected = self.classes[usize::from(self.batch.sync)].set.next;
            if self.batch.sync && self.values.antic_expire > 0 {
                if let Some(head) = self.expired_head(state, true) {
                    return Some(head);
                }
                if let Some(process) = self.process.filter(|_| self.status != Status::Finished)
                    && !self.breaks_anticipation(state, process, selected)
                {
                    self.start_waiting();
                    return None;
                }
            }
            if selected.is_some() && reads && !writes {
                self.batch.end = now + self.values.batch_expire(true);
            }
        }
        if selected.is_none() {
            let sync = reads && !(writes && self.batch.sync);
            self.batch.begin(sync, &self.values);
            let class = &mut self.classes[usize::from(sync)];
            class.last_check = now;
            selected = class.set.fifo.head();
        }
        self.expired_head(state, self.batch.sync).or(selected)
    }

    /// Move `id` to the dispatch list (section 3.6, step 7).
    fn move_to_dispatch(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        self.timer = None;
        self.status = Status::Off;
        let class = &mut self.classes[usize::from(bio.is_sync())];
        class.head = bio.end();
        self.process = bio.is_sync().then_some(bio.process);
        self.completed = false;
        if !bio.is_sync() {
            self.batch.writes_left = self.batch.writes_left.saturating_sub(1);
        }
        class.set.next = class.set.successor(&class.rule(), &state.requests, id);
        class.set.remove(&mut state.requests, id);
        let process = self.history.process(bio.process);
        process.queued -= 1;
        process.on_dispatch_list += 1;
        self.in_driver += 1;
        state.dispatch_sorted(id);
    }
}

impl Scheduler for Anticipatory {
    fn name(&self) -> &'static str {
        "anticipatory"
    }

    fn waits_for(&self, bio: &Bio) -> bool {
        self.waiting() && self.process == Some(bio.process)
    }

    /// As in Linux 2.6.32, the index of the direction selects the class, so a read looks among
    /// the async requests.
    fn front_merge(&self, bio: &Bio) -> Option<RequestId> {
        let class = usize::from(!bio.is_read());
        self.classes[class].set.sorted.find(bio.end())
    }

    fn set_of(&self, state: &QueueState, request: RequestId) -> Option<&RequestSet> {
        let class = usize::from(state.requests[request].bio.is_sync());
        Some(&self.classes[class].set)
    }

    fn set_of_mut(&mut self, state: &QueueState, request: RequestId) -> Option<&mut RequestSet> {
        let class = usize::from(state.requests[request].bio.is_sync());
        Some(&mut self.classes[class].set)
    }

    fn joined(&mut self, state: &mut QueueState, survivor: RequestId, absorbed: RequestId) {
        let bio = state.requests[absorbed].bio;
        let class = &mut self.classes[usize::from(bio.is_sync())];
        let rule = class.rule();
        let set = &mut class.set;
        set.join(&mut state.requests, survivor, absorbed, |set, pool| {
            set.successor(&rule, pool, absorbed)
        });
        self.history.process(bio.process).queued -= 1;
    }

    fn insert(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        let now = state.jiffy();
        let sync = bio.is_sync();
        if sync {
            self.history
                .update(bio.process, &bio, now, state.settings.hz);
        }
        self.history.process(bio.process).queued += 1;
        if let Some(alias) = self.classes[usize::from(sync)].set.sorted.find(bio.start) {
            self.move_to_dispatch(state, alias);
        }
        let class = &mut self.classes[usize::from(sync)];
        let rule = class.rule();
        state.requests[id].deadline = now + self.values.expire(sync);
        class.set.insert(&mut state.requests, id);
        class.set.next = rule.choose(&state.requests, Some(id), class.set.next);
        if let Some(process) = self.process.filter(|_| self.waiting())
            && self.breaks_anticipation(state, process, Some(id))
        {
            self.status = Status::Finished;
            self.timer = None;
        }
    }

    fn dispatch(&mut self, state: &mut QueueState) {
        let (reads, writes) = (self.has_requests(true), self.has_requests(false));
        if !self.batch.sync && !reads && (self.batch.writes_left == 0 || !writes) {
            self.batch.writes_idled = true;
        }
        if !(reads || writes) || self.waiting() || self.batch.switching {
            return;
        }
        let Some(id) = self.select(state) else {
            return;
        };
        if self.batch.switching {
            if self.in_driver > 0 {
                return;
            }
            self.batch.end_switch(state.jiffy(), &self.values);
        }
        self.move_to_dispatch(state, id);
    }

    fn activate(&mut self, state: &mut QueueState, id: RequestId) {
        let process = state.requests[id].bio.process;
        self.history.process(process).on_dispatch_list -= 1;
    }

    fn complete(&mut self, state: &mut QueueState, id: RequestId) {
        let bio = state.requests[id].bio;
        let now = state.jiffy();
        if self.batch.switching && self.in_driver == 1 {
            self.batch.end = now + self.values.batch_expire(self.batch.sync);
            self.batch.switching = false;
            self.batch.awaits_completion |= self.batch.sync;
        }
        self.in_driver -= 1;
        if self.batch.awaits_completion && bio.is_sync() == self.batch.sync {
            self.batch.adapt_quota(now, &self.values);
            self.batch.end = now + self.values.batch_expire(true);
            self.batch.awaits_completion = false;
        }
        if self.process == Some(bio.process) {
            self.start = now;
            self.completed = true;
            if self.status == Status::WaitCompletion {
                self.start_waiting();
            }
        }
        if bio.is_sync() {
            self.history.process(bio.process).last_completion = Some(now);
        }
    }

    fn next_timer(&self, state: &QueueState) -> Option<Nanos> {
        self.timer.map(|jiffy| state.settings.hz.tick(jiffy))
    }

    fn run_timer(&mut self, _state: &mut QueueState) {
        self.timer = None;
        self.status = Status::Finished;
    }

    fn tune(&mut self, state: &QueueState, name: &str, text: &str) -> Result<(), TunableError> {
        TUNABLES.write(state.settings.hz, &mut self.values, name, text)
    }
}
