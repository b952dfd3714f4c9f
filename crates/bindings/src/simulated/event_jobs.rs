//! Event jobs as threads of a simulation.

use std::ops::Range;
use std::time::Duration;

use iostudy_events::{Compute, EventResult, Layout, Workload};
use iostudy_latency::{empty_latencies, merge};
use iostudy_schedulers::Priority;
use iostudy_simulator::{Figures, Kind, Operation, Source, Thread};

use super::layout::{FileTable, start};

/// Events of one job.
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
    fn next(&mut self, elapsed: u64) -> Option<Operation> {
        if elapsed >= self.deadline {
            return None;
        }
        let event = self.left.next()?;
        let pieces = self.layout.pieces(self.seed, event, self.unit_bytes);
        Some(Operation {
            kind: Kind::Read,
            file: self.file,
            pieces: pieces.collect(),
            direct: self.direct,
            durable: false,
            then: self.compute,
        })
    }
}

/// The threads of the jobs, without a ramp.
pub fn threads(
    workload: &Workload,
    files: &FileTable,
    seed: u64,
) -> Result<(Vec<Thread>, u64), String> {
    let threads: Result<Vec<Thread>, String> = (0..workload.jobs)
        .map(|job| {
            Ok(Thread {
                source: Box::new(events(workload, files, job)?),
                outstanding: 1,
                start: start(seed, job),
                priority: Priority::default(),
            })
        })
        .collect();
    Ok((threads?, 0))
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
pub fn result(figures: &Figures) -> EventResult {
    let threads = &figures.threads;
    let mut latencies = empty_latencies();
    for thread in threads {
        merge(&mut latencies, &thread.read.latencies);
    }
    EventResult {
        events: latencies.len(),
        read_bytes: threads.iter().map(|thread| thread.read.bytes).sum(),
        fetched_bytes: Some(figures.device.read.sectors * 512),
        wall: Duration::from_nanos(figures.duration),
        jobs: threads
            .iter()
            .map(|thread| Duration::from_nanos(thread.ended.saturating_sub(thread.started)))
            .collect(),
        latencies,
    }
}
