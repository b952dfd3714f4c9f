//! File jobs as threads of a simulation.

use std::time::Duration;

use iostudy_engine::{Job, JobResult, Length, Method, Operation, Pace, Phases};
use iostudy_latency::{IoStats, empty_latencies, merge};
use iostudy_pattern::{Layout, RecordSequence, nth};
use iostudy_schedulers::Priority;
use iostudy_simulator::{self as simulator, Direction, Records, Round, Thread, ThreadFigures};

use crate::file_table::{FileTable, start};

/// Find the files of a job, or make them. Returns the files of each thread.
///
/// # Errors
///
/// A file is missing, or has no room.
pub fn lay_out(job: &Job, files: &mut FileTable) -> Result<Vec<Vec<usize>>, String> {
    let bytes = job.begin_bytes + job.file_bytes;
    let mut find = |path| {
        if job.create {
            files.create(path, bytes)
        } else {
            files.find(path, bytes)
        }
    };
    let threads = job.threads.iter();
    threads
        .map(|paths| paths.iter().map(|path| find(path)).collect())
        .collect()
}

/// A job with its threads and files.
///
/// # Errors
///
/// A file is missing or has no room, or the pace of the job has no simulation.
pub fn simulate(job: &Job, files: &mut FileTable, seed: u64) -> Result<simulator::Job, String> {
    let layouts = lay_out(job, files)?;
    let think = match job.pace {
        Pace::ClosedLoop => 0,
        Pace::ThinkTime(time) => nanos(time),
        Pace::SlowedDown { .. } | Pace::RateLimited { .. } | Pace::OpenLoop { .. } => {
            return Err(
                "a simulated job has neither a rate nor a slow-down; leave them out".into(),
            );
        }
    };
    let all = layouts.concat();
    let (ramp, job) = (nanos(job.ramp), job.clone());
    Ok(simulator::Job {
        threads: Box::new(move || threads(&job, &layouts, think, seed)),
        files: all,
        ramp,
        repeats: false,
    })
}

fn threads(job: &Job, layouts: &[Vec<usize>], think: u64, seed: u64) -> Vec<Thread> {
    let thread = |(index, own): (usize, &Vec<usize>)| Thread {
        source: Box::new(records(job, index, own.clone(), think)),
        outstanding: outstanding(job),
        start: start(seed, index),
        priority: Priority::default(),
    };
    layouts.iter().enumerate().map(thread).collect()
}

const fn outstanding(job: &Job) -> u32 {
    match job.method {
        Method::IoUring(options) => options.depth,
        Method::Positioned | Method::Seek | Method::Stdio => 1,
    }
}

fn records(job: &Job, thread: usize, files: Vec<usize>, think: u64) -> Records {
    let layout = Layout {
        files: files.len(),
        begin: job.begin_bytes,
        bytes: job.file_bytes,
        record_bytes: job.record_bytes,
    };
    let seed = nth(job.seed, thread as u64);
    let all = Records::new(
        RecordSequence::new(layout, job.order, seed),
        files,
        direction(job.operation),
    );
    Records {
        length: match job.length {
            Length::Pass => all.length,
            Length::Bytes(bytes) => {
                simulator::Length::Records(bytes.div_ceil(job.record_bytes as u64))
            }
            Length::Time(time) => simulator::Length::Time(nanos(time + job.ramp)),
            Length::Endless => simulator::Length::Time(u64::MAX),
        },
        direct: job.direct,
        durable: job.dsync,
        sync_every: job.sync.map(|sync| sync.every_records),
        think,
        seed,
        ..all
    }
}

const fn direction(operation: Operation) -> Direction {
    match operation {
        Operation::Read => Direction::Read,
        Operation::Write => Direction::Write,
        Operation::Mix { read_percent } => Direction::Mix(read_percent),
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The measurements of a job, as the engine gives them.
pub fn result(round: &Round) -> JobResult {
    let threads = &round.threads;
    let started = threads.iter().map(|thread| thread.started).min();
    let ended = threads.iter().map(|thread| thread.ended).max();
    let mut all = JobResult {
        wall: Duration::from_nanos(ended.unwrap_or(0).saturating_sub(started.unwrap_or(0))),
        threads: threads.iter().map(seconds).collect(),
        phases: threads.iter().map(phases).collect(),
        moved_bytes: threads.iter().map(|thread| thread.moved).sum(),
        read: IoStats::new(),
        write: IoStats::new(),
        sync: empty_latencies(),
        unissued: 0,
        cpu_seconds: threads.iter().map(processor_seconds).sum(),
        fallbacks: Vec::new(),
    };
    for thread in threads {
        all.read.merge(&thread.read);
        all.write.merge(&thread.write);
        merge(&mut all.sync, &thread.sync);
    }
    all
}

const fn seconds(thread: &ThreadFigures) -> Duration {
    Duration::from_nanos(thread.ended.saturating_sub(thread.started))
}

const fn processor_seconds(thread: &ThreadFigures) -> f64 {
    Duration::from_nanos(thread.processor).as_secs_f64()
}

/// A simulated thread opens and closes its files in no time.
const fn phases(thread: &ThreadFigures) -> Phases {
    Phases {
        open: Duration::ZERO,
        records: Duration::from_nanos(thread.records_ended.saturating_sub(thread.started)),
        sync: Duration::from_nanos(thread.ended.saturating_sub(thread.records_ended)),
        close: Duration::ZERO,
    }
}
