//! History of processes in the anticipatory scheduler (specification, sections 3.1 and 3.2).

use crate::averages::{Average, decay, limit_seek};
use crate::clock::{Hz, Jiffies};
use crate::request::{Bio, ProcessId};

/// History of a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process {
    /// Whether it has submitted a sync request.
    pub started: bool,
    pub exited: bool,
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

/// Averages and probabilities (256 is 1) over the first samples of all processes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Newcomers {
    think_total: u64,
    pub think_mean: Jiffies,
    seek_total: u64,
    pub seek_mean: u64,
    pub exit: u64,
    pub exit_without_cooperation: u64,
}

/// Histories of all processes.
#[derive(Debug, Default)]
pub struct History {
    processes: Vec<Process>,
    pub newcomers: Newcomers,
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
            let newcomers = &mut self.newcomers;
            newcomers.think_total = decay(newcomers.think_total, time);
            newcomers.think_mean = newcomers.think_total / 256;
            newcomers.exit = decay(newcomers.exit, 0);
        }
        process.think.add_think_time(time);
    }

    fn add_seek(&mut self, process: &mut Process, start: u64) {
        let distance = limit_seek(&process.seek, start.abs_diff(process.last_end));
        if process.seek.samples == 0 {
            let newcomers = &mut self.newcomers;
            newcomers.seek_total = decay(newcomers.seek_total, distance);
            newcomers.seek_mean = newcomers.seek_total / 256;
        }
        process.seek.add_seek(distance);
    }

    /// Seek distance that is usual for `process`.
    pub fn usual_seek(&mut self, process: ProcessId) -> u64 {
        let seek = self.process(process).seek;
        if seek.samples == 0 {
            self.newcomers.seek_mean
        } else {
            seek.mean
        }
    }

    /// Anticipation of `process` was in vain.
    pub fn record_timeout(&mut self, process: ProcessId) {
        let Process { think, exited, .. } = *self.process(process);
        let newcomers = &mut self.newcomers;
        if think.samples == 0 {
            newcomers.exit = decay(newcomers.exit, 1);
        }
        if exited {
            newcomers.exit_without_cooperation = decay(newcomers.exit_without_cooperation, 1);
        }
    }

    /// A request of another process close to those of `process` has arrived.
    pub fn record_cooperation(&mut self, process: ProcessId) {
        let Process { think, exited, .. } = *self.process(process);
        let newcomers = &mut self.newcomers;
        if exited {
            newcomers.exit_without_cooperation = decay(newcomers.exit_without_cooperation, 0);
            if think.samples == 0 {
                newcomers.exit = decay(newcomers.exit, 1);
            }
        }
    }

    /// Whether `process` is expected to submit no close request within `antic_expire`.
    pub fn hopeless(&mut self, process: ProcessId, antic_expire: Jiffies) -> bool {
        let Process { think, exited, .. } = *self.process(process);
        let newcomers = &mut self.newcomers;
        if exited && newcomers.exit_without_cooperation > 128 {
            if think.samples == 0 {
                newcomers.exit = decay(newcomers.exit, 1);
            }
            return true;
        }
        if think.samples > 0 {
            return think.mean > antic_expire;
        }
        newcomers.think_mean > antic_expire
            || newcomers.exit * newcomers.exit_without_cooperation > 32_768
    }

    /// Text of `est_time`: probabilities in percent, newcomers' think time in ms and seeks in
    /// sectors.
    pub fn text(&self, hz: Hz) -> String {
        let newcomers = &self.newcomers;
        format!(
            "{} % exit probability\n{} % exit without cooperation\n{} ms think time\n{} sectors seek",
            newcomers.exit * 100 / 256,
            newcomers.exit_without_cooperation * 100 / 256,
            hz.to_ms(newcomers.think_mean),
            newcomers.seek_mean
        )
    }
}
