//! Simulated requests per second of processor time, with a device of fixed service times.
//!
//! `cargo run --release -p iostudy-schedulers --example speed`

use std::collections::BinaryHeap;
use std::{cmp::Reverse, fs};

use iostudy_schedulers::{
    Anticipatory, Bfq, Bio, Cfq, Deadline, Kyber, MqDeadline, NoScheduler, Noop, ProcessId,
    RequestId, RequestQueue, SchedulerBuilder, Settings, Submission,
};

const REQUESTS: u64 = 1_000_000;
const PROCESSES: u32 = 32;
const SERVICE: u64 = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builders: [SchedulerBuilder; 9] = [
        Noop::build,
        NoScheduler::build,
        Deadline::build,
        Anticipatory::build,
        Cfq::build,
        Cfq::build_2_6_32,
        MqDeadline::build,
        Kyber::build,
        Bfq::build,
    ];
    for build in builders {
        for queue_depth in [1, 32] {
            measure(build, queue_depth)?;
        }
    }
    Ok(())
}

/// Processes that read at random, each with one request at a time and no think time.
fn measure(build: SchedulerBuilder, queue_depth: u32) -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings {
        queue_depth,
        ..Settings::default()
    };
    let mut now = 100_000_000_000;
    let mut queue = RequestQueue::new(settings, now, build);
    let mut in_device: BinaryHeap<Reverse<(u64, RequestId)>> = BinaryHeap::new();
    let mut tags = Vec::new();
    let start = processor_ns()?;
    let mut number = 0;
    for process in 0..PROCESSES {
        submit(&mut queue, now, process, &mut number)?;
    }
    while number < REQUESTS {
        while let Some(id) = queue.dispatch(now) {
            in_device.push(Reverse((now + SERVICE, id)));
        }
        let completion = in_device.peek().map(|&Reverse((time, _))| time);
        let times = [completion, queue.next_timer()];
        now = times
            .into_iter()
            .flatten()
            .min()
            .ok_or("nothing can happen")?;
        while let Some(&Reverse((time, id))) = in_device.peek()
            && time <= now
        {
            in_device.pop();
            queue.complete(now, id, &mut tags);
        }
        for process in tags.drain(..) {
            submit(&mut queue, now, u32::try_from(process)?, &mut number)?;
        }
        queue.run_timers(now);
    }
    #[expect(clippy::cast_precision_loss, reason = "below 2^52")]
    let rate = REQUESTS as f64 * 1e3 / (processor_ns()? - start) as f64;
    let name = queue.scheduler();
    println!("{name} with {queue_depth} in flight: {rate:.2} million requests/s");
    Ok(())
}

fn submit(
    queue: &mut RequestQueue,
    now: u64,
    process: u32,
    number: &mut u64,
) -> Result<(), &'static str> {
    *number += 1;
    let mut bio = Bio::read(ProcessId(process), mix(*number) % 1_000_000 * 8, 8);
    bio.tag = process.into();
    match queue.submit(now, bio) {
        Submission::Full => Err("the queue is full"),
        Submission::Inserted(_) | Submission::Merged(_) => Ok(()),
    }
}

/// Processor time of this thread in nanoseconds (`Documentation/scheduler/sched-stats.rst`).
fn processor_ns() -> Result<u64, Box<dyn std::error::Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let first = text.split_whitespace().next();
    Ok(first.ok_or("an empty schedstat")?.parse()?)
}

/// Pseudorandom number: the multiplier is that of Knuth's MMIX generator.
const fn mix(number: u64) -> u64 {
    number
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1)
        >> 20
}
