//! /proc/PID/task: threads of the workload.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use rustix::thread::gettid;

use super::allowed_cpus::AllowedCpus;
use super::pid_stat::{self, PidStat};
use super::small_file::SmallFile;
use super::small_file::list_pids;
use crate::proc_file::number;

/// Name prefix of the kernel's polling threads of an `io_uring` (`io_uring/sqpoll.c`, since Linux
/// 5.12). They belong to the process of the ring.
const POLLER: &[u8] = b"iou-sqp-";

/// Minimum interval for the busiest thread: with ticks of 10 ms, a shorter interval would
/// overestimate the maximum of many equal threads.
const MIN_INTERVAL: Duration = Duration::from_millis(900);

/// Number of threads by state, without the sampling thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ThreadCounts {
    pub(super) processes: u64,
    pub(super) threads: u64,
    /// Running or runnable.
    pub(super) running: u64,
    /// In uninterruptible sleep, such as disk I/O.
    pub(super) waiting: u64,
    /// Stopped by a signal such as SIGSTOP, not by a debugger.
    pub(super) stopped: u64,
    /// Sum over all intervals of the busiest thread's clock ticks; `None` where no interval ends.
    pub(super) busiest_ticks: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Threads {
    /// Start of the interval and the threads at that time.
    begun: Option<Instant>,
    last: HashMap<u32, Thread>,
    busiest_ticks: u64,
    pub(super) allowed_cpus: AllowedCpus,
}

#[derive(Debug, Clone, Copy)]
struct Thread {
    started: u64,
    ticks: u64,
    /// Ticks in the last interval that observed it.
    step: u64,
}

/// Process of the workload.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorkloadProcess {
    pub(super) pid: u32,
    /// Start time in clock ticks since boot; `None` where only the parent is known.
    pub(super) started: Option<u64>,
}

impl Threads {
    /// Read all threads of these processes and of their current children.
    pub(super) fn scan(
        &mut self,
        workload_processes: impl Iterator<Item = WorkloadProcess>,
        file: &mut SmallFile,
    ) -> ThreadCounts {
        let mut unread: Vec<WorkloadProcess> = workload_processes.collect();
        let mut visited: HashSet<u32> = unread.iter().map(|process| process.pid).collect();
        let mut scan = ThreadScan::new(self.begun.is_some(), &self.last);
        while let Some(process) = unread.pop() {
            let children = scan.read(process, file);
            let new = children.into_iter().filter(|child| visited.insert(*child));
            unread.extend(new.map(WorkloadProcess::child));
        }
        let ThreadScan {
            threads, counts, ..
        } = scan;
        if self.begun.is_some_and(|at| at.elapsed() < MIN_INTERVAL) {
            return counts;
        }
        self.end_interval(threads);
        ThreadCounts {
            busiest_ticks: Some(self.busiest_ticks),
            ..counts
        }
    }

    fn end_interval(&mut self, threads: HashMap<u32, Thread>) {
        self.busiest_ticks += threads
            .values()
            .map(|thread| thread.step)
            .max()
            .unwrap_or(0);
        let own = own();
        for (pid, thread) in threads.iter().filter(|(pid, _)| **pid != own) {
            self.allowed_cpus.note(*pid, thread.step);
        }
        self.last = threads;
        self.begun = Some(Instant::now());
    }
}

impl WorkloadProcess {
    fn child(pid: u32) -> Self {
        Self { pid, started: None }
    }
}

/// Thread id of the sampling thread.
fn own() -> u32 {
    gettid().as_raw_pid().unsigned_abs()
}

/// One scan of all threads.
struct ThreadScan<'a> {
    own: u32,
    /// Whether new threads started in this interval.
    is_another: bool,
    before: &'a HashMap<u32, Thread>,
    threads: HashMap<u32, Thread>,
    counts: ThreadCounts,
}

impl<'a> ThreadScan<'a> {
    fn new(is_another: bool, before: &'a HashMap<u32, Thread>) -> Self {
        Self {
            own: own(),
            is_another,
            before,
            threads: HashMap::new(),
            counts: ThreadCounts::default(),
        }
    }

    /// Read the threads of one process and return its children.
    fn read(&mut self, process: WorkloadProcess, file: &mut SmallFile) -> Vec<u32> {
        let pid = process.pid;
        let mut children = Vec::new();
        for thread in list_pids(&format!("/proc/{pid}/task")) {
            let text = file.read(format_args!("/proc/{pid}/task/{thread}/stat"));
            let Some(stat) = text.and_then(pid_stat::parse) else {
                continue;
            };
            let is_first = thread == pid;
            if is_first && process.started.is_some_and(|at| at != stat.started) {
                return children; // the pid has been reused
            }
            self.counts.processes += u64::from(is_first);
            if !stat.name.starts_with(POLLER) {
                self.note(&stat);
            }
            let text = file.read(format_args!("/proc/{pid}/task/{thread}/children"));
            children.extend(text.into_iter().flat_map(complete_numbers));
        }
        children
    }

    fn note(&mut self, stat: &PidStat<'_>) {
        if stat.pid != self.own {
            self.counts.count(stat.state);
        }
        let now = Thread {
            started: stat.started,
            ticks: stat.ticks,
            step: self.step(stat),
        };
        self.threads.insert(stat.pid, now);
    }

    /// Ticks of a thread in this interval.
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

/// Parse numbers that a blank terminates; a truncated last number is ignored.
fn complete_numbers(text: &[u8]) -> impl Iterator<Item = u32> {
    let each = text.split_inclusive(|byte| *byte == b' ');
    each.filter_map(|text| u32::try_from(number(text.strip_suffix(b" ")?)?).ok())
}

impl ThreadCounts {
    fn count(&mut self, state: u8) {
        self.threads += 1;
        match state {
            b'R' => self.running += 1,
            b'D' => self.waiting += 1,
            b'T' => self.stopped += 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_cut_is_none() {
        let numbers = |text: &[u8]| complete_numbers(text).collect::<Vec<_>>();
        assert_eq!(numbers(b"812 4 99999 "), [812, 4, 99999]);
        assert_eq!(numbers(b"812 4 99"), [812, 4]);
        assert_eq!(numbers(b""), []);
    }
}
