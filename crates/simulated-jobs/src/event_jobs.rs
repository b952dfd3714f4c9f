//! Event jobs as threads of a simulation.

use std::ops::Range;
use std::time::Duration;

use iostudy_events::{Compute, EventResult, Layout, Workload};
use iostudy_latency::{empty_latencies, merge};
use iostudy_schedulers::Priority;
use iostudy_simulator::{self as simulator, Kind, Operation, Round, Source, Step, Thread};

use crate::file_table::{FileTable, start};

/// Events of one job.
#[derive(Clone)]
struct Events {
    layout: Layout,
    unit_bytes: usize,
    seed: u64,
    file: usize,
    left: Range<u64>,
    deadline: u64,
    direct: bool,
    compute: u64,
}

impl Source for Events {
    fn next(&mut self, elapsed: u64) -> Step {
        if elapsed >= self.deadline {
            return Step::End;
        }
        let Some(event) = self.left.next() else {
            return Step::End;
        };
        let pieces = self.layout.pieces(self.seed, event, self.unit_bytes);
        Step::Run(Operation {
            kind: Kind::Read,
            file: self.file,
            pieces: pieces.collect(),
            direct: self.direct,
            durable: false,
            costs_calls: true,
            then: self.compute,
        })
    }
}

/// The jobs with their threads and files, without a ramp.
///
/// # Errors
///
/// A file is missing or too short.
pub fn simulate(
    workload: &Workload,
    files: &FileTable,
    seed: u64,
) -> Result<simulator::Job, String> {
    let sources = (0..workload.jobs).map(|job| events(workload, files, job));
    let sources = sources.collect::<Result<Vec<Events>, String>>()?;
    let files = sources.iter().map(|source| source.file).collect();
    Ok(simulator::Job {
        threads: Box::new(move || threads(&sources, seed)),
        files,
        ramp: 0,
        repeats: false,
    })
}

fn threads(sources: &[Events], seed: u64) -> Vec<Thread> {
    let thread = |(job, source): (usize, &Events)| Thread {
        source: Box::new(source.clone()),
        outstanding: 1,
        start: start(seed, job),
        priority: Priority::default(),
    };
    sources.iter().enumerate().map(thread).collect()
}

fn events(workload: &Workload, files: &FileTable, job: usize) -> Result<Events, String> {
    let path = &workload.paths[workload.file_index(job)];
    let first = workload.first_event(job);
    let (Compute::Burn(compute) | Compute::Sleep(compute)) = workload.compute;
    Ok(Events {
        layout: workload.layout,
        unit_bytes: workload.unit_bytes(),
        seed: workload.seed,
        file: files.find(path, workload.file_bytes())?,
        left: first..first + workload.events_per_job,
        deadline: workload.time.map_or(u64::MAX, nanos),
        direct: workload.direct,
        compute: nanos(compute),
    })
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The measurements of the jobs, as their crate gives them. An event that began in time counts.
///
/// `fetched_bytes` are the bytes that the drive read, if it read for these jobs only.
pub fn result(round: &Round, fetched_bytes: Option<u64>) -> EventResult {
    let threads = &round.threads;
    let mut latencies = empty_latencies();
    for thread in threads {
        merge(&mut latencies, &thread.read.latencies);
    }
    EventResult {
        events: latencies.len(),
        read_bytes: threads.iter().map(|thread| thread.read.bytes).sum(),
        fetched_bytes,
        wall: round.duration(),
        jobs: threads
            .iter()
            .map(|thread| Duration::from_nanos(thread.ended.saturating_sub(thread.started)))
            .collect(),
        latencies,
    }
}
