//! Queues of processes: creation, and merging of cooperating ones (specification, section 8.8).

use super::queue::Queue;
use super::service_tree::QueueId;
use super::state::{Bfq, ProcessQueues};
use crate::request::{Bio, Priority, ProcessId};
use crate::state::QueueState;

/// Largest distance in sectors of requests that cooperate.
const CLOSE: u64 = 8192;

impl Bfq {
    /// The sync queue of `process`.
    pub(super) fn process_queue(&self, process: ProcessId) -> Option<QueueId> {
        let queues = self.processes.get(process.index()).copied().flatten();
        queues.map(|queues| queues.current)
    }

    /// The async queue of `priority`.
    pub(super) fn async_queue(&self, priority: Priority) -> Option<QueueId> {
        self.async_queues[priority.async_index()]
    }

    /// The queue that holds requests like `bio`.
    pub(super) fn queue_of(&self, bio: &Bio) -> Option<QueueId> {
        if bio.is_sync() {
            self.process_queue(bio.process)
        } else {
            self.async_queue(bio.priority)
        }
    }

    /// The queue for the new request `bio`: created, split or merged as needed.
    pub(super) fn queue_for(&mut self, state: &QueueState, bio: &Bio) -> QueueId {
        if !bio.is_sync() {
            return self.async_queue(bio.priority).unwrap_or_else(|| {
                let id = self.create(state, bio.priority, false);
                self.async_queues[bio.priority.async_index()] = Some(id);
                id
            });
        }
        let index = bio.process.index();
        if self.processes.len() <= index {
            self.processes.resize(index + 1, None);
        }
        let queues = self.processes[index].unwrap_or_else(|| {
            let id = self.create(state, bio.priority, true);
            self.queues[id as usize].processes = 1;
            ProcessQueues {
                home: id,
                current: id,
            }
        });
        self.processes[index] = Some(queues);
        self.leave_split_queue(index);
        self.join_partner(state, index, bio)
    }

    fn create(&mut self, state: &QueueState, priority: Priority, sync: bool) -> QueueId {
        let queue = Queue::new(priority, sync, self.max_budget.of_new_queue(), state.now);
        let id = QueueId::try_from(self.queues.len()).expect("fewer than 2^32 queues");
        self.queues.push(queue);
        if sync {
            for member in self.burst.add(id, state.now) {
                self.queues[member as usize].raising.in_large_burst = true;
            }
        }
        id
    }

    /// `process` gets its own queue back after a shared one was marked for its split. The last one keeps it.
    fn leave_split_queue(&mut self, process: usize) {
        let Some(queues) = self.processes[process] else {
            return;
        };
        let shared = queues.current;
        if !self.queue(shared).split {
            return;
        }
        if self.queue(shared).processes > 1 {
            let home = self.swap_home(process, shared);
            self.processes[process] = Some(ProcessQueues {
                home,
                current: home,
            });
            self.queues[shared as usize].processes -= 1;
            self.queues[home as usize].processes += 1;
        }
        let queue = &mut self.queues[shared as usize];
        if queue.processes == 1 {
            queue.shared = false;
            queue.split = false;
        }
    }

    /// A home for `process` that is not `shared`: its own, or that of another member, which takes
    /// `shared` as its home.
    fn swap_home(&mut self, process: usize, shared: QueueId) -> QueueId {
        let own = self.processes[process].map_or(shared, |queues| queues.home);
        if own != shared {
            return own;
        }
        let mut others = self.processes.iter_mut().flatten();
        let other = others.find(|other| other.current == shared && other.home != shared);
        other.map_or(shared, |other| std::mem::replace(&mut other.home, shared))
    }

    /// Merge the queue of `process` into a partner close to `bio`, if there is one.
    fn join_partner(&mut self, state: &QueueState, process: usize, bio: &Bio) -> QueueId {
        let Some(queues) = self.processes[process] else {
            unreachable!("the process has queues");
        };
        let id = queues.current;
        let Some(partner) = self.find_partner(state, id, bio) else {
            return id;
        };
        self.queues[id as usize].processes -= 1;
        let queue = &mut self.queues[partner as usize];
        queue.processes += 1;
        queue.shared = true;
        self.processes[process] = Some(ProcessQueues {
            current: partner,
            ..queues
        });
        partner
    }

    fn find_partner(&self, state: &QueueState, id: QueueId, bio: &Bio) -> Option<QueueId> {
        let queue = self.queue(id);
        let helps = state.settings.rotational || !self.queueing.present();
        if !helps || queue.shared || !queue.is_mergeable(state.now) {
            return None;
        }
        let fits = |other: QueueId| {
            let partner = self.queue(other);
            let used = partner.processes > 0 && other != id && partner.class() == queue.class();
            used && partner.is_mergeable(state.now)
        };
        let served = self.slot.map(|slot| slot.queue);
        let near = |sector: u64| sector.abs_diff(bio.start) <= CLOSE;
        if let Some(served) = served.filter(|&served| near(self.last_position) && fits(served)) {
            return Some(served);
        }
        self.trees[queue.class()].waiting().find(|&other| {
            let next = self.queue(other).requests.next;
            next.is_some_and(|request| near(state.requests[request].bio.start)) && fits(other)
        })
    }
}
