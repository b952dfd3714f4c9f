//! Queues of processes, and of async requests by priority.

use crate::request::{Bio, Priority, PriorityClass};

/// Levels in a class.
const LEVELS: usize = 8;

/// Index of the queue of each bio.
#[derive(Debug, Default)]
pub struct QueueLookup {
    of_process: Vec<Option<u32>>,
    of_async: [Option<u32>; 2 * LEVELS + 1],
}

impl QueueLookup {
    /// The queue of `bio`, if it exists.
    pub fn find(&self, bio: &Bio) -> Option<u32> {
        if bio.is_sync() {
            *self.of_process.get(bio.process.index())?
        } else {
            self.of_async[async_index(bio.priority)]
        }
    }

    /// Note that `queue` is the queue of `bio`.
    pub fn insert(&mut self, bio: &Bio, queue: u32) {
        if !bio.is_sync() {
            self.of_async[async_index(bio.priority)] = Some(queue);
            return;
        }
        let process = bio.process.index();
        if process >= self.of_process.len() {
            self.of_process.resize(process + 1, None);
        }
        self.of_process[process] = Some(queue);
    }
}

/// Place of a priority in the table of async queues. The idle class has one queue.
fn async_index(priority: Priority) -> usize {
    let level = usize::from(priority.level).min(LEVELS - 1);
    match priority.class {
        PriorityClass::RealTime => level,
        PriorityClass::BestEffort => LEVELS + level,
        PriorityClass::Idle => 2 * LEVELS,
    }
}
