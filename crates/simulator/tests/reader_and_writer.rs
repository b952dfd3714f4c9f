//! A sequential reader and a random writer on a disk: schedulers that idle for the reader serve it
//! better, and give up throughput of the writer.

#[path = "../../drive/tests/common/mod.rs"]
mod common;

use iostudy_drive::Parameters;
use iostudy_schedulers::{
    Anticipatory, Bfq, Cfq, Deadline, Kyber, MqDeadline, NoScheduler, Noop, Priority,
    SchedulerBuilder, Settings,
};
use iostudy_simulator::{Experiment, Figures, Pattern, Process, SimulationError};

const SECOND: u64 = 1_000_000_000;

fn reader() -> Process {
    Process {
        writes: false,
        sync: true,
        pattern: Pattern::Sequential,
        start: 0,
        length: 80_000,
        sectors: 64,
        outstanding: 1,
        think: 500_000,
        priority: Priority::default(),
    }
}

/// Write-back of a flusher thread.
fn writer() -> Process {
    Process {
        writes: true,
        sync: false,
        pattern: Pattern::Random(1),
        start: 400_000,
        length: 400_000,
        sectors: 64,
        outstanding: 24,
        think: 0,
        ..reader()
    }
}

fn experiment(scheduler: SchedulerBuilder) -> Experiment {
    let mut disk = common::disk();
    disk.cache.write_cache = false;
    Experiment {
        scheduler,
        settings: Settings::default(),
        tunables: Vec::new(),
        drive: Parameters::Disk(disk),
        processes: vec![reader(), writer()],
        warm_up: 12 * SECOND,
        duration: 30 * SECOND,
    }
}

fn run(scheduler: SchedulerBuilder) -> Figures {
    experiment(scheduler).run().expect("a complete simulation")
}

#[test]
fn anticipation_and_idling_serve_a_reader_during_writes() {
    let fifo = run(Noop::build);
    for scheduler in [Anticipatory::build, Cfq::build, Bfq::build] {
        let idling = run(scheduler);
        let ratio = idling.processes[0].sectors / fifo.processes[0].sectors;
        assert!(ratio >= 5, "{ratio} times the sectors of noop");
        assert!(idling.idle > 0 && fifo.idle == 0);
        assert!(idling.processes[1].sectors < fifo.processes[1].sectors);
        assert!(idling.processes[0].percentile(50) < fifo.processes[0].percentile(50));
    }
}

#[test]
fn schedulers_without_idling_never_leave_the_disk_idle() {
    for scheduler in [
        Noop::build,
        NoScheduler::build,
        Deadline::build,
        MqDeadline::build,
        Kyber::build,
    ] {
        assert_eq!(run(scheduler).idle, 0);
    }
}

#[test]
fn equal_experiments_give_equal_figures() {
    assert_eq!(run(Bfq::build), run(Bfq::build));
}

#[test]
fn merges_join_what_adjacent_requests_submit_together() {
    let mut together = experiment(Noop::build);
    together.processes = vec![Process {
        outstanding: 8,
        ..reader()
    }];
    let figures = together.run().expect("a complete simulation");
    assert!(figures.merges > 0);
    assert!(figures.seeks < figures.dispatched);
    assert!(figures.bytes_per_second() > 0);
}

#[test]
fn requests_beyond_the_drive_are_an_error() {
    let mut beyond = experiment(Noop::build);
    beyond.processes[0].start = u64::MAX / 2;
    assert!(matches!(beyond.run(), Err(SimulationError::Drive(_))));
    let mut unknown = experiment(Noop::build);
    unknown.tunables = vec![("quantum".to_owned(), "8".to_owned())];
    assert!(matches!(unknown.run(), Err(SimulationError::Tunable(_))));
}
