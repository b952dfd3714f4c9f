//! Simulated requests per second of processor time, from the threads to the drive.
//!
//! `cargo run --release -p iostudy-simulator --example speed -- PARAMETERS.json`

use std::fs;

use iostudy_drive::{Drive, Parameters};
use iostudy_pattern::{Layout, Order, RecordSequence};
use iostudy_schedulers::{
    Anticipatory, Bfq, Cfq, Deadline, Kyber, MqDeadline, NoScheduler, Noop, Priority,
    SchedulerBuilder, Settings,
};
use iostudy_simulator::{
    Direction, Experiment, File, Host, Job, Length, Records, Thread, VolumeLayout,
};

const SCHEDULERS: [(&str, SchedulerBuilder); 9] = [
    ("noop", Noop::build),
    ("none", NoScheduler::build),
    ("deadline", Deadline::build),
    ("mq-deadline", MqDeadline::build),
    ("kyber", Kyber::build),
    ("anticipatory", Anticipatory::build),
    ("cfq", Cfq::build),
    ("cfq of 2.6.32", Cfq::build_2_6_32),
    ("bfq", Bfq::build),
];
const THREADS: u64 = 32;
const REQUESTS_PER_THREAD: u64 = 20_000;
const RECORD_BYTES: usize = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path] = arguments.as_slice() else {
        return Err("usage: speed PARAMETERS.json".into());
    };
    let drive: Parameters = serde_json::from_str(&fs::read_to_string(path)?)?;
    for order in [Order::Sequential, Order::Random] {
        for (name, scheduler) in SCHEDULERS {
            let mut experiment = experiment(scheduler, &drive, order);
            let start = processor_ns()?;
            let figures = experiment.run(&mut |_| true)?;
            let seconds = nanos(processor_ns()? - start);
            let device = figures.device;
            let requests = device.read.requests + device.read.merged;
            println!(
                "{order:?} reads, {name}: {:.2} million requests/s, {:.0} times as fast as the clock",
                nanos(requests) * 1e3 / seconds,
                nanos(figures.duration) / seconds
            );
        }
    }
    Ok(())
}

/// Threads that read small records directly, each in a part of the drive.
fn experiment(scheduler: SchedulerBuilder, drive: &Parameters, order: Order) -> Experiment {
    let part = Drive::new(drive.clone()).blocks() / THREADS / 8;
    let layout = Layout {
        files: 1,
        begin: 0,
        bytes: part * RECORD_BYTES as u64,
        record_bytes: RECORD_BYTES,
    };
    let file = |index| File {
        start: index * part * 8,
        pages: part,
        journal: None,
    };
    let thread = |index: u64| {
        let sequence = RecordSequence::new(layout, order, index);
        let index = usize::try_from(index).unwrap_or_default();
        let records = Records {
            direct: true,
            length: Length::Records(REQUESTS_PER_THREAD),
            ..Records::new(sequence, vec![index], Direction::Read)
        };
        Thread {
            source: Box::new(records),
            outstanding: 1,
            start: 0,
            priority: Priority::default(),
        }
    };
    Experiment {
        scheduler,
        settings: Settings {
            queue_depth: 32,
            ..Settings::default()
        },
        tunables: Vec::new(),
        drive: drive.clone(),
        last: None,
        layout: VolumeLayout::default(),
        host: Host::default(),
        files: (0..THREADS).map(file).collect(),
        jobs: vec![Job::once((0..THREADS).map(thread).collect(), 0)],
        seed: 1,
    }
}

#[expect(clippy::cast_precision_loss, reason = "below 2^52")]
const fn nanos(number: u64) -> f64 {
    number as f64
}

/// Processor time of this thread in nanoseconds (`Documentation/scheduler/sched-stats.rst`).
fn processor_ns() -> Result<u64, Box<dyn std::error::Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let first = text.split_whitespace().next();
    Ok(first.ok_or("an empty schedstat")?.parse()?)
}
