//! /proc/PID/task: the threads of the workload, one by one.

use std::collections::HashMap;

use rustix::thread::gettid;

use super::small_file::SmallFile;
use super::{pid_stat, pids};

/// How many there are now, and what they do, without the one that looks: it always runs, and where
/// iostudy is the workload itself, it would be taken for a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tally {
    pub(super) threads: u64,
    /// On a processor, or ready for one.
    pub(super) running: u64,
    /// In an uninterruptible wait, as for a device.
    pub(super) waiting: u64,
}

#[derive(Debug, Default)]
pub(super) struct Threads {
    last: HashMap<u32, Thread>,
    was_scanned: bool,
    /// Clock ticks that the busiest thread of each interval between two scans has run in it, all
    /// intervals together.
    pub(super) busiest_ticks: u64,
}

#[derive(Debug, Clone, Copy)]
struct Thread {
    started: u64,
    ticks: u64,
}

impl Threads {
    /// Read all threads of these processes.
    pub(super) fn scan(
        &mut self,
        members: impl Iterator<Item = u32>,
        file: &mut SmallFile,
    ) -> Tally {
        let mut tally = Tally::default();
        let mut busiest = 0;
        let own = gettid().as_raw_pid().unsigned_abs();
        let last = std::mem::take(&mut self.last);
        for pid in members {
            for thread in pids(&format!("/proc/{pid}/task")) {
                let text = file.read(format_args!("/proc/{pid}/task/{thread}/stat"));
                let Some(stat) = text.and_then(pid_stat::parse) else {
                    continue;
                };
                if thread != own {
                    tally.count(stat.state);
                }
                let now = Thread {
                    started: stat.started,
                    ticks: stat.ticks,
                };
                busiest = busiest.max(self.step(last.get(&thread), now));
                self.last.insert(thread, now);
            }
        }
        self.busiest_ticks += busiest;
        self.was_scanned = true;
        tally
    }

    /// How long a thread has run since the last scan: one that is new, since it began.
    fn step(&self, before: Option<&Thread>, now: Thread) -> u64 {
        match before {
            Some(before) if before.started == now.started => now.ticks.saturating_sub(before.ticks),
            _ if self.was_scanned => now.ticks,
            _ => 0,
        }
    }
}

impl Tally {
    fn count(&mut self, state: u8) {
        self.threads += 1;
        match state {
            b'R' => self.running += 1,
            b'D' => self.waiting += 1,
            _ => {}
        }
    }
}
