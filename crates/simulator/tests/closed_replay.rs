//! Replays of recorded bios. Threads wait for their completions.

#[path = "../../drive/tests/common/mod.rs"]
mod common;

use iostudy_drive::Parameters;
use iostudy_schedulers::{Bio, NoScheduler, ProcessId, Settings};
use iostudy_simulator::{Action, ClosedReplay, ReplayFigures, SimulationError, TracedBio};

const DELAY: u64 = 50_000_000;

fn traced(start: u64, after: u64, delay: u64) -> TracedBio {
    TracedBio {
        bio: Bio::read(ProcessId(0), start, 8),
        action: Action::Data,
        after,
        delay,
    }
}

fn replay(threads: Vec<Vec<TracedBio>>) -> ClosedReplay {
    ClosedReplay {
        scheduler: NoScheduler::build,
        settings: Settings::default(),
        tunables: Vec::new(),
        drive: Parameters::Disk(common::disk()),
        threads,
    }
}

fn run(threads: Vec<Vec<TracedBio>>) -> ReplayFigures {
    replay(threads).run(&mut |_| true).unwrap()
}

#[test]
fn a_bio_waits_for_completions_and_then_for_its_delay() {
    let alone = run(vec![vec![traced(0, 0, 0)]]).duration;
    let both = run(vec![vec![traced(0, 0, 0), traced(80_000, 1, DELAY)]]);
    assert!(both.duration > alone + DELAY);
    assert_eq!(both.read.latencies.len(), 2);
    assert_eq!(both.read.bytes, 2 * 4096);
    let together = run(vec![vec![traced(0, 0, 0), traced(80_000, 0, DELAY)]]);
    assert!(together.duration < both.duration);
}

#[test]
fn threads_do_not_wait_for_each_other() {
    let one = vec![traced(0, 0, 0), traced(80_000, 1, DELAY)];
    let two = run(vec![one.clone(), one.clone()]);
    assert!(two.duration < 2 * DELAY);
    assert_eq!(two.read.latencies.len(), 4);
}

#[test]
fn a_slower_first_bio_delays_what_follows_it_by_as_much() {
    let behind = |queue: u64| {
        let others = (0..queue).map(|index| traced(800_000 - 9_000 * index, 0, 0));
        let own = vec![traced(0, 0, 1_000), traced(8, 1, DELAY)];
        run(vec![others.collect(), own]).duration
    };
    assert!(behind(20) > behind(1) + 10 * common::MS);
}

#[test]
fn a_flush_precedes_its_data_and_counts_once() {
    let write = |action| TracedBio {
        bio: Bio::write(ProcessId(0), 0, 8),
        action,
        after: 0,
        delay: 0,
    };
    let figures = run(vec![vec![
        write(Action::FlushAndData),
        write(Action::Flush),
    ]]);
    assert_eq!(figures.write.latencies.len(), 2);
    assert_eq!(figures.device.flushes, 2);
    assert_eq!(figures.device.write.requests, 1);
}

#[test]
fn nothing_is_replayed_in_no_time() {
    assert_eq!(run(vec![Vec::new()]).duration, 0);
}

#[test]
fn more_completions_than_bios_stall() {
    let stalled = replay(vec![vec![traced(0, 1, 0)]]).run(&mut |_| true);
    assert_eq!(stalled.unwrap_err(), SimulationError::Stalled { time: 0 });
}

#[test]
fn the_caller_stops_it() {
    let stopped = replay(vec![vec![traced(0, 0, 0)]]).run(&mut |_| false);
    assert_eq!(stopped.unwrap_err(), SimulationError::Stopped);
}
