//! /proc/PID: which processes did what, the workload's and others; see proc(5).

mod book;
mod done;
mod pid_io;
mod pid_stat;
mod small_file;
mod threads;
mod used;
#[cfg(test)]
mod world;

use std::path::Path;

use rustix::param::clock_ticks_per_second;

use self::book::Book;
use self::done::Done;
use self::small_file::SmallFile;
use self::threads::Threads;
use self::used::Used;
use crate::columns::{Column, Columns};
use crate::process::Process;
use crate::source::Source;
use crate::watched::Watched;

const MICROSECONDS: u64 = 1_000_000;

/// What processes have used since the first sample.
const USED: [&str; 3] = ["cpu_us", "read_bytes", "written_bytes"];

/// Of the workload, what was written but for nothing; how long the busiest thread of each interval
/// between two scans ran in it, all intervals together; and what there is now.
const OF_WORKLOAD: [&str; 6] = [
    "cancelled_bytes",
    "busiest_thread_us",
    "processes",
    "threads",
    "running_threads",
    "waiting_threads",
];

/// All processes: those of the workload as `workload.COUNTER`, if a root of it is there, and those
/// of others as `foreign.COUNTER`.
pub(crate) struct Processes {
    book: Book,
    threads: Threads,
    stat_file: SmallFile,
    io_file: SmallFile,
    workload: Option<([Column; USED.len()], [Column; OF_WORKLOAD.len()])>,
    foreign: [Column; USED.len()],
}

impl Processes {
    pub(crate) fn open(watched: &Watched, columns: &mut Columns) -> Self {
        let is_there = |pid: &u32| Path::new(&format!("/proc/{pid}/stat")).exists();
        let workload = watched.workload.iter().any(is_there).then(|| {
            let used = columns.group("workload", &USED);
            (used, columns.group("workload", &OF_WORKLOAD))
        });
        Self {
            book: Book::new(&watched.workload),
            threads: Threads::default(),
            stat_file: SmallFile::new(),
            io_file: SmallFile::new(),
            workload,
            foreign: columns.group("foreign", &USED),
        }
    }

    /// What the busiest have done since this was last asked, or since the first sample.
    pub(crate) fn take_busiest(&mut self) -> Vec<Process> {
        self.book.take_busiest().iter().map(told).collect()
    }

    fn scan(&mut self) {
        for pid in pids("/proc") {
            let text = self.stat_file.read(format_args!("/proc/{pid}/stat"));
            let Some(stat) = text.and_then(pid_stat::parse) else {
                continue;
            };
            let io = (!stat.is_kernel_thread)
                .then(|| self.io_file.read(format_args!("/proc/{pid}/io")))
                .flatten();
            self.book.see(&stat, io.and_then(pid_io::parse));
        }
        self.book.end_scan();
    }
}

impl Source for Processes {
    fn sample(&mut self, columns: &mut Columns) {
        self.scan();
        let workload = self.book.workload.told;
        columns.put_all(&self.foreign, &used_values(self.book.foreign.told));
        let Some((used, of_workload)) = &self.workload else {
            return;
        };
        columns.put_all(used, &used_values(workload));
        let processes = self.book.members().count() as u64;
        let tally = self.threads.scan(self.book.members(), &mut self.stat_file);
        columns.put_all(
            of_workload,
            &[
                unsigned(workload.cancelled),
                microseconds(self.threads.busiest_ticks),
                processes,
                tally.threads,
                tally.running,
                tally.waiting,
            ],
        );
    }
}

fn used_values(used: Used) -> [u64; USED.len()] {
    [
        microseconds(unsigned(used.ticks)),
        unsigned(used.read),
        unsigned(used.written),
    ]
}

fn told(done: &Done) -> Process {
    let [cpu_us, read_bytes, written_bytes] = used_values(done.used);
    Process {
        pid: done.pid,
        name: printable(&done.name),
        of_workload: done.of_workload,
        cpu_us,
        read_bytes,
        written_bytes,
    }
}

/// Names may hold what moves a terminal's cursor.
fn printable(name: &[u8]) -> String {
    String::from_utf8_lossy(name).replace(char::is_control, "\u{fffd}")
}

fn microseconds(ticks: u64) -> u64 {
    ticks * MICROSECONDS / clock_ticks_per_second()
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// The numbers in a folder of /proc; none if it is gone.
fn pids(folder: &str) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
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
