//! /proc/PID: activity of the workload's and of other processes; see proc(5).
//!
//! A scan reads all processes, which is expensive on large machines. The workload's threads are
//! read between scans as well, because their states are estimated from samples.

mod allowed_cpus;
mod pid_io;
mod pid_stat;
mod process_accounting;
#[cfg(test)]
mod simulated_kernel;
mod small_file;
mod threads;
mod usage;

use std::path::Path;

use rustix::param::clock_ticks_per_second;

use self::process_accounting::ProcessAccounting;
use self::small_file::SmallFile;
use self::small_file::list_pids;
use self::threads::Threads;
use self::usage::ProcessActivity;
use self::usage::Usage;
use crate::columns::{Column, Columns};
use crate::process::Process;
use crate::reader::SamplingScope;

const MICROSECONDS: u64 = 1_000_000;

/// Usage columns of processes since the first sample.
const USED: [&str; 3] = ["cpu_us", "read_bytes", "written_bytes"];

/// Additional workload column: bytes of cancelled writes.
const CANCELLED: &str = "workload.cancelled_bytes";

/// Run time of the busiest thread of each interval, summed over all intervals.
const BUSIEST: &str = "workload.busiest_thread_us";

/// Current numbers of processes and threads by state.
const OF_THREADS: [&str; 5] = [
    "processes",
    "threads",
    "running_threads",
    "waiting_threads",
    "stopped_threads",
];

/// Number of CPUs that nearly all of the workload may use.
const ALLOWED: &str = "workload.allowed_cores";

/// All processes: the workload as `workload.COUNTER`, if one of its roots exists, and others as
/// `foreign.COUNTER`.
pub(crate) struct Processes {
    process_accounting: ProcessAccounting,
    threads: Threads,
    stat_file: SmallFile,
    io_file: SmallFile,
    workload: Option<WorkloadColumns>,
    foreign: [Column; USED.len()],
}

struct WorkloadColumns {
    usage: [Column; USED.len()],
    cancelled: Column,
    busiest: Column,
    threads: [Column; OF_THREADS.len()],
    allowed_cpus: Column,
}

impl Processes {
    pub(crate) fn open(scope: &SamplingScope, columns: &mut Columns) -> Self {
        let is_there = |pid: &u32| Path::new(&format!("/proc/{pid}/stat")).exists();
        let has_root = scope.workload.iter().any(is_there);
        let workload = has_root.then(|| WorkloadColumns {
            usage: columns.group("workload", &USED),
            cancelled: columns.get_or_add(CANCELLED),
            busiest: columns.get_or_add(BUSIEST),
            threads: columns.group("workload", &OF_THREADS),
            allowed_cpus: columns.get_or_add(ALLOWED),
        });
        Self {
            process_accounting: ProcessAccounting::new(&scope.workload),
            threads: Threads::default(),
            stat_file: SmallFile::new(),
            io_file: SmallFile::new(),
            workload,
            foreign: columns.group("foreign", &USED),
        }
    }

    /// Activity of the busiest processes since the last call, or since the first sample.
    pub(crate) fn take_busiest(&mut self) -> Vec<Process> {
        self.process_accounting
            .take_busiest()
            .iter()
            .map(found)
            .collect()
    }

    /// Scan all processes and set their usage in the current row.
    pub(crate) fn scan(&mut self, columns: &mut Columns) {
        self.read_all();
        columns.put_all(
            &self.foreign,
            &used_values(self.process_accounting.foreign.found),
        );
        if let Some(of) = &self.workload {
            let workload = self.process_accounting.workload.found;
            columns.put_all(&of.usage, &used_values(workload));
            columns.put(of.cancelled, unsigned(workload.cancelled));
        }
    }

    /// Scan the workload's threads and set their counts in the current row.
    pub(crate) fn scan_threads(&mut self, columns: &mut Columns) {
        let Some(of) = &self.workload else {
            return;
        };
        let counts = self.threads.scan(
            self.process_accounting.workload_processes(),
            &mut self.stat_file,
        );
        columns.put_all(
            &of.threads,
            &[
                counts.processes,
                counts.threads,
                counts.running,
                counts.waiting,
                counts.stopped,
            ],
        );
        if let Some(ticks) = counts.busiest_ticks {
            columns.put(of.busiest, microseconds(ticks));
            if let Some(cores) = self.threads.allowed_cpus.count() {
                columns.put(of.allowed_cpus, cores);
            }
        }
    }

    fn read_all(&mut self) {
        for pid in list_pids("/proc") {
            let text = self.stat_file.read(format_args!("/proc/{pid}/stat"));
            let Some(stat) = text.and_then(pid_stat::parse) else {
                continue;
            };
            let io = (!stat.is_kernel_thread)
                .then(|| self.io_file.read(format_args!("/proc/{pid}/io")))
                .flatten();
            self.process_accounting
                .observe(&stat, io.and_then(pid_io::parse));
        }
        self.process_accounting.end_scan();
    }
}

fn used_values(usage: Usage) -> [u64; USED.len()] {
    [
        microseconds(unsigned(usage.ticks)),
        unsigned(usage.read),
        unsigned(usage.written),
    ]
}

fn found(done: &ProcessActivity) -> Process {
    let [cpu_us, read_bytes, written_bytes] = used_values(done.usage);
    Process {
        pid: done.pid,
        name: printable(&done.name),
        is_workload: done.is_workload,
        cpu_us,
        read_bytes,
        written_bytes,
    }
}

/// Replace control characters, which could affect a terminal.
fn printable(name: &[u8]) -> String {
    String::from_utf8_lossy(name).replace(char::is_control, "\u{fffd}")
}

fn microseconds(ticks: u64) -> u64 {
    ticks * MICROSECONDS / clock_ticks_per_second()
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_move_the_cursor() {
        assert_eq!(printable(b"a\x1b[2Jb\nc"), "a\u{fffd}[2Jb\u{fffd}c");
        assert_eq!(printable(b"sh\xff"), "sh\u{fffd}");
    }
}
