//! /proc/PID/task: the threads of the workload, one by one.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use rustix::thread::gettid;

use super::allowed::Allowed;
use super::pid_stat::{self, PidStat};
use super::pids;
use super::small_file::SmallFile;
use crate::proc_file::number;

/// The beginning of the names of the kernel's threads that poll for an `io_uring`
/// (`io_uring/sqpoll.c`, since Linux 5.12). They are threads of the process that has the ring.
const POLLER: &[u8] = b"iou-sqp-";

/// CPU time is told in ticks of 10 ms, and of threads that are alike another one is ahead each time:
/// in less than this the busiest of many would be told by chance to be busier than any is.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(900);

/// How many there are now, and what they do, without the one that looks: it always runs, and where
/// iostudy is the workload itself, it would be taken for a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tally {
    pub(super) processes: u64,
    pub(super) threads: u64,
    /// On a processor, or ready for one.
    pub(super) running: u64,
    /// In an uninterruptible wait, as for a device.
    pub(super) waiting: u64,
    /// Clock ticks that the busiest thread of each interval has run in it, all intervals together;
    /// None where no interval ends.
    pub(super) busiest_ticks: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Threads {
    /// When the interval began, and what there was then.
    begun: Option<Instant>,
    last: HashMap<u32, Thread>,
    busiest_ticks: u64,
    pub(super) allowed: Allowed,
}

#[derive(Debug, Clone, Copy)]
struct Thread {
    started: u64,
    ticks: u64,
    /// Of these, in the interval that it was last seen in.
    step: u64,
}

/// A process of the workload.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) pid: u32,
    /// In clock ticks since the boot; None where only its parent is known.
    pub(super) started: Option<u64>,
}

impl Threads {
    /// Read all threads of these processes, and of the children that they have by now.
    pub(super) fn look(
        &mut self,
        members: impl Iterator<Item = Member>,
        file: &mut SmallFile,
    ) -> Tally {
        let mut unread: Vec<Member> = members.collect();
        let mut told: HashSet<u32> = unread.iter().map(|member| member.pid).collect();
        let mut look = Look::new(self.begun.is_some(), &self.last);
        while let Some(member) = unread.pop() {
            let children = look.read(member, file);
            let new = children.into_iter().filter(|child| told.insert(*child));
            unread.extend(new.map(Member::child));
        }
        let Look { seen, tally, .. } = look;
        if self
            .begun
            .is_some_and(|at| at.elapsed() < SHORTEST_INTERVAL)
        {
            return tally;
        }
        self.end_interval(seen);
        Tally {
            busiest_ticks: Some(self.busiest_ticks),
            ..tally
        }
    }

    fn end_interval(&mut self, seen: HashMap<u32, Thread>) {
        self.busiest_ticks += seen.values().map(|thread| thread.step).max().unwrap_or(0);
        let own = own();
        for (pid, thread) in seen.iter().filter(|(pid, _)| **pid != own) {
            self.allowed.note(*pid, thread.step);
        }
        self.last = seen;
        self.begun = Some(Instant::now());
    }
}

impl Member {
    fn child(pid: u32) -> Self {
        Self { pid, started: None }
    }
}

/// The thread that looks.
fn own() -> u32 {
    gettid().as_raw_pid().unsigned_abs()
}

/// One round of all threads.
struct Look<'a> {
    own: u32,
    /// Whether a thread that was not there before has begun since.
    is_another: bool,
    before: &'a HashMap<u32, Thread>,
    seen: HashMap<u32, Thread>,
    tally: Tally,
}

impl<'a> Look<'a> {
    fn new(is_another: bool, before: &'a HashMap<u32, Thread>) -> Self {
        Self {
            own: own(),
            is_another,
            before,
            seen: HashMap::new(),
            tally: Tally::default(),
        }
    }

    /// The threads of one process, and who its children are.
    fn read(&mut self, member: Member, file: &mut SmallFile) -> Vec<u32> {
        let pid = member.pid;
        let mut children = Vec::new();
        for thread in pids(&format!("/proc/{pid}/task")) {
            let text = file.read(format_args!("/proc/{pid}/task/{thread}/stat"));
            let Some(stat) = text.and_then(pid_stat::parse) else {
                continue;
            };
            let is_first = thread == pid;
            if is_first && member.started.is_some_and(|at| at != stat.started) {
                return children; // another process has its number by now
            }
            self.tally.processes += u64::from(is_first);
            if !stat.name.starts_with(POLLER) {
                self.note(&stat);
            }
            let text = file.read(format_args!("/proc/{pid}/task/{thread}/children"));
            children.extend(text.into_iter().flat_map(whole_numbers));
        }
        children
    }

    fn note(&mut self, stat: &PidStat<'_>) {
        if stat.pid != self.own {
            self.tally.count(stat.state);
        }
        let now = Thread {
            started: stat.started,
            ticks: stat.ticks,
            step: self.step(stat),
        };
        self.seen.insert(stat.pid, now);
    }

    /// How long a thread has run in this interval: one that is new, since it began.
    fn step(&self, stat: &PidStat<'_>) -> u64 {
        match self.before.get(&stat.pid) {
            Some(before) if before.started == stat.started => {
                stat.ticks.saturating_sub(before.ticks)
            }
            _ if self.is_another => stat.ticks,
            _ => 0,
        }
    }
}

/// The numbers before a blank each: where there was no room for all, the last one may be cut.
fn whole_numbers(text: &[u8]) -> impl Iterator<Item = u32> {
    let each = text.split_inclusive(|byte| *byte == b' ');
    each.filter_map(|text| u32::try_from(number(text.strip_suffix(b" ")?)?).ok())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_cut_is_none() {
        let told = |text: &[u8]| whole_numbers(text).collect::<Vec<_>>();
        assert_eq!(told(b"812 4 99999 "), [812, 4, 99999]);
        assert_eq!(told(b"812 4 99"), [812, 4]);
        assert_eq!(told(b""), []);
    }
}
