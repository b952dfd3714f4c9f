//! One sample after the other, from files that stay open.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::columns::{Column, Columns};
use crate::ration::{Ration, Share};
use crate::rows::{Rows, Samples};
use crate::source::Source;
use crate::sources::{self, Processes};
use crate::watched::Watched;

/// Time that passes in suspend as well, and the time of day: see `clock_gettime(2)`.
const CLOCKS: [&str; 2] = ["boottime_ns", "realtime_ns"];

/// Of one core, all files together may take a thousandth; the processes and the workload's threads
/// half as much each. Where there are so many processes that one scan of them spends what a trial may,
/// the threads are read all the same.
const FILES: Share = Share {
    wait_per_cost: 1000,
    shortest_wait: ALMOST_A_SECOND,
};
const PROCESSES: Share = Share {
    wait_per_cost: 2000,
    shortest_wait: ALMOST_A_SECOND,
};
/// What they do is told from how often they were seen to do it: the more often the surer. A run of
/// half a second has some looks.
const THREADS: Share = Share {
    wait_per_cost: 2000,
    shortest_wait: Duration::from_millis(190),
};
/// So that whoever samples once a second has each of them every time.
const ALMOST_A_SECOND: Duration = Duration::from_millis(900);

/// What a sample has beside what every one has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What is due by what it cost: for whoever samples many times a second.
    Rationed,
    /// All files, and processes and threads if they are due: for whoever tells of each sample.
    Files,
    /// Processes and threads as well: where totals must begin or end.
    Whole,
}

/// The open files, and what has been read from them since it was last taken.
pub struct Reader {
    cheap: Vec<Box<dyn Source>>,
    dear: Vec<Box<dyn Source>>,
    dear_ration: Ration,
    processes: Processes,
    /// Of their own: a scan of many would leave nothing for the others.
    processes_ration: Ration,
    threads_ration: Ration,
    columns: Columns,
    clocks: [Column; 2],
    rows: Rows,
}

impl Reader {
    /// Open what the kernel offers.
    #[must_use]
    pub fn open(watched: &Watched) -> Self {
        let mut columns = Columns::default();
        let clocks = columns.group("clock", &CLOCKS);
        let dear = sources::dear(watched, &mut columns);
        let processes = Processes::open(watched, &mut columns);
        Self {
            cheap: sources::cheap(watched, &mut columns),
            dear_ration: Ration::of(dear.len(), FILES),
            dear,
            processes,
            processes_ration: Ration::of(1, PROCESSES),
            threads_ration: Ration::of(1, THREADS),
            columns,
            clocks,
            rows: Rows::default(),
        }
    }

    /// Take a sample now.
    pub fn sample(&mut self, depth: Depth) {
        self.columns.begin();
        let at = nanoseconds(ClockId::Monotonic);
        let clocks = [ClockId::Boottime, ClockId::Realtime].map(nanoseconds);
        self.columns.put_all(&self.clocks, &clocks);
        for source in &mut self.cheap {
            source.sample(&mut self.columns);
        }
        let (columns, dear) = (&mut self.columns, &mut self.dear);
        self.dear_ration.take(depth != Depth::Rationed, |index| {
            dear[index].sample(columns);
        });
        let (processes, is_whole) = (&mut self.processes, depth == Depth::Whole);
        self.processes_ration
            .take(is_whole, |_| processes.scan(columns));
        self.threads_ration
            .take(is_whole, |_| processes.look_at_threads(columns));
        self.rows.push(at, self.columns.row());
    }

    /// What has been sampled since it was last taken, with the last sample of then as its first, so
    /// that counters moved in no time between two takings.
    pub fn take(&mut self) -> Samples {
        let samples = std::mem::take(&mut self.rows).samples(self.columns.names());
        if let Some(&at) = samples.at.last() {
            self.rows.push(at, self.columns.row());
        }
        Samples {
            processes: self.processes.take_busiest(),
            ..samples
        }
    }

    /// Of how many samples one is kept by now: so many can be left out.
    pub(crate) fn stride(&self) -> u32 {
        self.rows.stride()
    }
}

fn nanoseconds(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_device_that_is_not_there_has_no_column_and_time_goes_on() {
        let watched = Watched {
            devices: Some(vec!["no-such-disk".into()]),
            workload: vec![],
        };
        let mut reader = Reader::open(&watched);
        reader.sample(Depth::Whole);
        reader.sample(Depth::Files);
        let samples = reader.take();
        assert!(samples.at[1] > samples.at[0]);
        assert!(
            samples
                .columns
                .iter()
                .all(|(name, _)| !name.starts_with("disk."))
        );
        let (_, boottime) = &samples.columns[0];
        assert!(boottime[1] > boottime[0]);
        reader.sample(Depth::Files);
        let next = reader.take();
        assert_eq!((next.at.len(), next.at[0]), (2, samples.at[1]));
        assert_eq!(next.columns[0].1[0], boottime[1]);
    }
    #[test]
    fn threads_are_looked_at_where_processes_are_too_many_to_be_read_again() {
        let mut shell = Command::new("sh")
            .args(["-c", "read line; sleep 60 & echo $!; wait"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut reader = Reader::open(&Watched {
            devices: Some(vec![]),
            workload: vec![shell.id()],
        });
        let once = Share {
            wait_per_cost: u32::MAX,
            ..PROCESSES
        };
        reader.processes_ration = Ration::of(1, once);
        reader.sample(Depth::Whole);
        shell.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut child = String::new();
        let told = shell.stdout.as_mut().unwrap();
        BufReader::new(told).read_line(&mut child).unwrap();
        let (until, mut processes) = (Instant::now() + Duration::from_secs(60), Vec::new());
        while processes.len() < 2 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(100));
            reader.sample(Depth::Rationed);
            processes = known(&reader, "workload.processes");
        }
        let scans = known(&reader, "foreign.cpu_us").len();
        Command::new("kill").arg(child.trim()).status().unwrap();
        shell.wait().unwrap();
        assert_eq!((processes, scans), (vec![1, 2], 1));
    }

    fn known(reader: &Reader, column: &str) -> Vec<u64> {
        let samples = reader.rows.samples(reader.columns.names());
        let (_, values) = samples
            .columns
            .iter()
            .find(|(name, _)| name == column)
            .unwrap();
        values.iter().copied().flatten().collect()
    }
}
