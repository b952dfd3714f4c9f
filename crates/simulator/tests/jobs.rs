//! Jobs at the same time, and workers of a job in phases.

#[path = "../../drive/tests/common/mod.rs"]
mod common;

use iostudy_drive::Parameters;
use iostudy_pattern::Record;
use iostudy_schedulers::{Noop, Settings};
use iostudy_simulator::{
    Division, Experiment, Figures, File, Host, Job, Kind, Operation, Operations, Phase,
    VolumeLayout, workers,
};

const RECORD_BYTES: u64 = 64 << 10;
const FILE_PAGES: u64 = 10_000;
const THINK: u64 = 1_000_000;

fn run(jobs: Vec<Job>) -> Figures {
    let file = |start| File {
        start,
        pages: FILE_PAGES,
        journal: None,
    };
    let mut experiment = Experiment {
        scheduler: Noop::build,
        settings: Settings::default(),
        tunables: Vec::new(),
        drive: Parameters::Disk(common::disk()),
        last: None,
        layout: VolumeLayout::default(),
        host: Host::default(),
        files: vec![file(0), file(400_000)],
        jobs,
        seed: 1,
    };
    experiment
        .run(&mut |_| true)
        .expect("a complete simulation")
}

/// Reads of `count` records from the first on, with a pause after each.
fn reads(file: usize, first: u64, count: u64) -> Operations {
    let read = move |index| Operation {
        then: THINK,
        ..Operation::call(
            Kind::Read,
            file,
            Record {
                offset: index * RECORD_BYTES,
                len: 65_536,
            },
        )
    };
    Box::new((first..first + count).map(read))
}

fn reader(file: usize, records: u64, repeats: bool) -> Job {
    let threads = move || {
        let phase = Phase::new(Division::Queue(1), 1, move |_| reads(file, 0, records));
        workers(1, vec![phase], |_| 0)
    };
    Job {
        threads: Box::new(threads),
        files: vec![file],
        ramp: 0,
        repeats,
    }
}

#[test]
fn a_job_repeats_until_those_that_do_not_have_ended() {
    let figures = run(vec![reader(0, 400, false), reader(1, 50, true)]);
    let [first, other] = figures.jobs.as_slice() else {
        panic!("two jobs");
    };
    assert_eq!(first.rounds.len(), 1);
    assert_eq!(first.stopped, None);
    assert!(other.rounds.len() >= 3, "{}", other.rounds.len());
    assert!(other.stopped.is_some());
    for pair in other.rounds.windows(2) {
        assert_eq!(pair[0].ended, pair[1].began);
    }
    // Each round reads its file from the drive again.
    let rounds = other.rounds.len() as u64;
    let read = figures.device.read.sectors * 512;
    assert!(read >= (400 + 50 * rounds) * RECORD_BYTES, "{read}");
    for round in &other.rounds {
        assert_eq!(round.threads[0].read.bytes, 50 * RECORD_BYTES);
    }
}

#[test]
fn a_single_job_does_not_repeat() {
    let figures = run(vec![reader(0, 10, false), reader(1, 50, false)]);
    assert!(figures.jobs.iter().all(|job| job.rounds.len() == 1));
    assert_eq!(figures.duration, figures.jobs[1].rounds[0].ended);
}

#[test]
fn a_phase_begins_when_all_workers_have_ended_the_one_before() {
    let phases = vec![
        Phase::new(Division::Own(1), 3, |item| {
            reads(0, 100 * item.worker as u64, 10 + 30 * item.worker as u64)
        }),
        Phase::alone(|| reads(1, 0, 5)),
        Phase::new(Division::Queue(7), 3, |item| reads(1, 10 + item.number, 1)),
    ];
    let figures = run(vec![Job::once(workers(3, phases, |_| 0), 0)]);
    let threads = &figures.jobs[0].rounds[0].threads;
    for phase in 0..2 {
        let ended = threads
            .iter()
            .map(|thread| thread.phases[phase].ended)
            .max();
        for thread in threads {
            assert_eq!(Some(thread.phases[phase + 1].began), ended);
        }
    }
    let items = |phase: usize| -> Vec<u64> {
        let items = threads
            .iter()
            .map(|thread| thread.phases[phase].items.len());
        items.collect()
    };
    assert_eq!(items(0), [1, 1, 1]);
    assert_eq!(items(1), [1, 0, 0]);
    assert_eq!(items(2).iter().sum::<u64>(), 7);
    assert!(items(2).iter().all(|items| *items > 0));
    // An item's latency includes the pause after its last operation.
    let shortest = threads[0].phases[0].items.min();
    assert!(shortest >= 10 * THINK, "{shortest}");
}
