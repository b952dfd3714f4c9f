//! History of processes in the anticipatory scheduler (specification, sections 3.1
//! and 3.2).

use crate::averages::{Average, ONE, decay, limit_seek};
use crate::clock::{Hz, Jiffies};
use crate::request::{Bio, ProcessId};

/// History of a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process {
    /// Whether it has submitted a sync request.
    pub started: bool,
    /// Requests in the scheduler.
    pub queued: u32,
    /// Requests on the dispatch list that the driver has not taken.
    pub on_dispatch_list: u32,
    /// Time of the last completion of a sync request.
    pub last_completion: Option<Jiffies>,
    last_end: u64,
    pub think: Average,
    pub seek: Average,
}

/// Histories of all processes, and sums over the first samples of each in fixed point.
#[derive(Debug, Default)]
pub struct History {
    processes: Vec<Process>,
    first_thinks: u64,
    first_seeks: u64,
}

impl History {
    /// The history of `process`.
    pub fn process(&mut self, process: ProcessId) -> &mut Process {
        let index = process.index();
        if index >= self.processes.len() {
            self.processes.resize(index + 1, Process::default());
        }
        &mut self.processes[index]
    }

    /// Update the averages of `process` for a sync `bio`, which is its own or a close one.
    pub fn update(&mut self, process: ProcessId, bio: &Bio, now: Jiffies, hz: Hz) {
        let mut entry = *self.process(process);
        if entry.started {
            self.add_think_time(&mut entry, now, hz);
            self.add_seek(&mut entry, bio.start);
        }
        entry.started = true;
        entry.last_end = bio.end();
        *self.process(process) = entry;
    }

    fn add_think_time(&mut self, process: &mut Process, now: Jiffies, hz: Hz) {
        let waiting = process.queued + process.on_dispatch_list > 0;
        let time = match process.last_completion {
            Some(completion) if !waiting => (now - completion).min(hz.over(50).saturating_sub(1)),
            _ => 0,
        };
        if process.think.samples == 0 {
            self.first_thinks = decay(self.first_thinks, time);
        }
        process.think.add_think_time(time);
    }

    fn add_seek(&mut self, process: &mut Process, start: u64) {
        let distance = limit_seek(&process.seek, start.abs_diff(process.last_end));
        if process.seek.samples == 0 {
            self.first_seeks = decay(self.first_seeks, distance);
        }
        process.seek.add_seek(distance);
    }

    /// Seek distance that is usual for `process`.
    pub fn usual_seek(&mut self, process: ProcessId) -> u64 {
        let seek = self.process(process).seek;
        if seek.samples == 0 {
            self.first_seeks / ONE
        } else {
            seek.mean
        }
    }

    /// Whether `process` is expected to submit no close request within `antic_expire`.
    pub fn thinks_too_long(&mut self, process: ProcessId, antic_expire: Jiffies) -> bool {
        let think = self.process(process).think;
        let mean = if think.samples == 0 {
            self.first_thinks / ONE
        } else {
            think.mean
        };
        mean > antic_expire
    }
}
