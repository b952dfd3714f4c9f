//! Simulated requests per second of processor time.
//!
//! `cargo run --release -p iostudy-drive --example speed -- NAME PARAMETERS.json DEPTH`

use std::fs;

use iostudy_drive::{Drive, Operation, Parameters, Request};

const REQUESTS: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, name, path, depth] = arguments.as_slice() else {
        return Err("usage: speed NAME PARAMETERS.json DEPTH".into());
    };
    let depth: usize = depth.parse()?;
    let parameters: Parameters = serde_json::from_str(&fs::read_to_string(path)?)?;
    for (title, operation, random) in [
        ("random reads", Operation::Read, true),
        ("sequential reads", Operation::Read, false),
        ("random writes", Operation::Write, true),
    ] {
        let rate = measure(Drive::new(parameters.clone()), operation, random, depth)?;
        println!("{name} {title} with {depth} in flight: {rate:.2} million requests/s");
    }
    Ok(())
}

/// Million requests per second of processor time.
fn measure(
    mut drive: Drive,
    operation: Operation,
    random: bool,
    depth: usize,
) -> Result<f64, Box<dyn std::error::Error>> {
    let slots = drive.blocks() / 8;
    let start = processor_ns()?;
    let mut now = 0;
    for id in 0..REQUESTS {
        while drive.in_flight() >= depth {
            let time = drive.next_event().ok_or("a request never completes")?;
            now = drive
                .complete(time)
                .map_or(now, |completion| completion.at.max(now));
        }
        let slot = if random { mix(id) } else { id } % slots;
        let request = Request {
            id,
            operation,
            block: slot * 8,
            blocks: 8,
            fua: false,
        };
        drive.submit(now, request)?;
    }
    #[expect(clippy::cast_precision_loss, reason = "below 2^52")]
    Ok(REQUESTS as f64 * 1e3 / (processor_ns()? - start) as f64)
}

/// Processor time of this thread in nanoseconds (`Documentation/scheduler/sched-stats.rst`).
fn processor_ns() -> Result<u64, Box<dyn std::error::Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text
        .split_whitespace()
        .next()
        .ok_or("an empty schedstat")?
        .parse()?)
}

/// Pseudorandom number: the multiplier is that of Knuth's MMIX generator.
const fn mix(id: u64) -> u64 {
    id.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1) >> 20
}
