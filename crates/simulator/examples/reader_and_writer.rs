//! Figures of each scheduler for a sequential reader and write-back on a drive.
//!
//! A write cache of the drive hides the effect: the drive then writes while the scheduler idles.
//!
//! `cargo run --release -p iostudy-simulator --example reader_and_writer -- PARAMETERS.json`

use std::fs;

use iostudy_drive::{Drive, Parameters};
use iostudy_schedulers::{
    Anticipatory, Bfq, Cfq, Deadline, Kyber, MqDeadline, NoScheduler, Noop, Priority,
    SchedulerBuilder, Settings,
};
use iostudy_simulator::{Experiment, Figures, Pattern, Process};

const SECOND: u64 = 1_000_000_000;

const SCHEDULERS: [(&str, SchedulerBuilder); 8] = [
    ("noop", Noop::build),
    ("none", NoScheduler::build),
    ("deadline", Deadline::build),
    ("mq-deadline", MqDeadline::build),
    ("kyber", Kyber::build),
    ("anticipatory", Anticipatory::build),
    ("cfq", Cfq::build),
    ("bfq", Bfq::build),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path] = arguments.as_slice() else {
        return Err("usage: reader_and_writer PARAMETERS.json".into());
    };
    let drive: Parameters = serde_json::from_str(&fs::read_to_string(path)?)?;
    println!(
        "scheduler     reader MB/s  p50 ms  p99 ms  writer MB/s  p99 ms  seeks  merges  idle %"
    );
    for (name, scheduler) in SCHEDULERS {
        print(name, &experiment(scheduler, &drive).run()?);
    }
    Ok(())
}

/// A reader with a think time of 0.5 ms, and a flusher thread with 24 random writes.
fn experiment(scheduler: SchedulerBuilder, drive: &Parameters) -> Experiment {
    let blocks = Drive::new(drive.clone()).blocks();
    let quarter = blocks / 4 / 256 * 256;
    let reader = Process {
        writes: false,
        sync: true,
        pattern: Pattern::Sequential,
        start: 0,
        length: quarter,
        sectors: 256,
        outstanding: 1,
        think: 500_000,
        priority: Priority::default(),
    };
    let writer = Process {
        writes: true,
        sync: false,
        pattern: Pattern::Random(1),
        start: 2 * quarter,
        outstanding: 24,
        think: 0,
        ..reader
    };
    Experiment {
        scheduler,
        settings: Settings::default(),
        tunables: Vec::new(),
        drive: drive.clone(),
        processes: vec![reader, writer],
        warm_up: 12 * SECOND,
        duration: 60 * SECOND,
    }
}

#[expect(clippy::cast_precision_loss, reason = "below 2^52")]
fn print(name: &str, figures: &Figures) {
    let seconds = figures.duration as f64 / 1e9;
    let rate = |index: usize| figures.processes[index].sectors as f64 * 512.0 / 1e6 / seconds;
    let ms = |index: usize, percent| {
        let latency = figures.processes[index].percentile(percent);
        latency.unwrap_or_default() as f64 / 1e6
    };
    println!(
        "{name:13} {:11.2} {:7.1} {:7.1} {:12.2} {:7.1} {:6} {:7} {:7.1}",
        rate(0),
        ms(0, 50),
        ms(0, 99),
        rate(1),
        ms(1, 99),
        figures.seeks,
        figures.merges,
        figures.idle as f64 / figures.duration as f64 * 100.0
    );
}
