//! Reader that takes samples from open files.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::columns::{Column, Columns, Source};
use crate::cpu_budget::{BudgetShare, CpuBudget};
use crate::rows::{Rows, Samples};
use crate::sources::{self, Processes};

/// Clocks that include suspend and the time of day: see `clock_gettime(2)`.
const CLOCKS: [&str; 2] = ["boottime_ns", "realtime_ns"];

/// CPU shares of one core: a thousandth for all files, half as much each for processes and for
/// threads. Separate budgets keep thread samples even where a process scan is expensive.
const FILES: BudgetShare = BudgetShare {
    wait_per_cost: 1000,
    min_wait: MIN_WAIT_ONE_SECOND,
};
const PROCESSES: BudgetShare = BudgetShare {
    wait_per_cost: 2000,
    min_wait: MIN_WAIT_ONE_SECOND,
};
/// Thread states are estimated from samples, so more samples are better. A run of half a second has
/// several.
const THREADS: BudgetShare = BudgetShare {
    wait_per_cost: 2000,
    min_wait: Duration::from_millis(190),
};
/// Minimum wait below a second, so that a 1 Hz sampler reads each source every time.
const MIN_WAIT_ONE_SECOND: Duration = Duration::from_millis(900);

/// Scope of a sample in addition to the unthrottled sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Only sources within budget: for high sampling rates.
    Budgeted,
    /// All files, and processes and threads within budget: for reports of every sample.
    Files,
    /// All sources: for the start and end of totals.
    Complete,
}

/// Open files and the samples since the last [`Reader::take`].
pub struct Reader {
    unthrottled: Vec<Box<dyn Source>>,
    throttled: Vec<Box<dyn Source>>,
    throttled_budget: CpuBudget,
    processes: Processes,
    /// Separate budgets, because a process scan may be expensive.
    processes_budget: CpuBudget,
    threads_budget: CpuBudget,
    columns: Columns,
    clocks: [Column; 2],
    rows: Rows,
}

impl Reader {
    /// Open all files that the kernel offers.
    pub fn open(scope: &SamplingScope) -> Self {
        let mut columns = Columns::default();
        let clocks = columns.group("clock", &CLOCKS);
        let throttled = sources::throttled(scope, &mut columns);
        let processes = Processes::open(scope, &mut columns);
        Self {
            unthrottled: sources::unthrottled(scope, &mut columns),
            throttled_budget: CpuBudget::of(throttled.len(), FILES),
            throttled,
            processes,
            processes_budget: CpuBudget::of(1, PROCESSES),
            threads_budget: CpuBudget::of(1, THREADS),
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
        for source in &mut self.unthrottled {
            source.sample(&mut self.columns);
        }
        let (columns, throttled) = (&mut self.columns, &mut self.throttled);
        self.throttled_budget
            .take(depth != Depth::Budgeted, |index| {
                throttled[index].sample(columns);
            });
        let (processes, is_whole) = (&mut self.processes, depth == Depth::Complete);
        self.processes_budget
            .take(is_whole, |_| processes.scan(columns));
        self.threads_budget
            .take(is_whole, |_| processes.scan_threads(columns));
        self.rows.push(at, self.columns.row());
    }

    /// Return the samples since the last call. The last sample of the previous call comes first, so
    /// that no interval is lost.
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

    /// Thinning factor: one in this many samples is kept.
    pub(crate) fn stride(&self) -> u32 {
        self.rows.stride()
    }
}

fn nanoseconds(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// Devices and processes to sample, in addition to machine-wide counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingScope {
    /// Kernel names of block devices as in /proc/diskstats (`dm-2`); `None` for all.
    pub devices: Option<Vec<String>>,
    /// Root processes of the workload, which includes their descendants.
    pub workload: Vec<u32>,
}

impl SamplingScope {
    /// Whether `device` is sampled.
    pub fn device(&self, device: &str) -> bool {
        match &self.devices {
            Some(names) => names.iter().any(|name| name == device),
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_device_that_is_not_there_has_no_column_and_time_goes_on() {
        let scope = SamplingScope {
            devices: Some(vec!["no-such-disk".into()]),
            workload: vec![],
        };
        let mut reader = Reader::open(&scope);
        reader.sample(Depth::Complete);
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
        let mut reader = Reader::open(&SamplingScope {
            devices: Some(vec![]),
            workload: vec![shell.id()],
        });
        let once = BudgetShare {
            wait_per_cost: u32::MAX,
            ..PROCESSES
        };
        reader.processes_budget = CpuBudget::of(1, once);
        reader.sample(Depth::Complete);
        shell.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut child = String::new();
        let found = shell.stdout.as_mut().unwrap();
        BufReader::new(found).read_line(&mut child).unwrap();
        let (until, mut processes) = (Instant::now() + Duration::from_secs(60), Vec::new());
        while processes.len() < 2 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(100));
            reader.sample(Depth::Budgeted);
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
