//! Commits of a journal by several threads.

#[path = "../../drive/tests/common/mod.rs"]
mod common;

use iostudy_drive::Parameters;
use iostudy_pattern::Record;
use iostudy_schedulers::{Noop, Settings};
use iostudy_simulator::{
    Experiment, Figures, File, Host, Job, Kind, Operation, PAGE_BYTES, Script, ScriptStep, Thread,
    VolumeLayout,
};

const CHANGES: u64 = 50;
const METADATA: usize = 0;

fn page(number: u64) -> Record {
    Record {
        offset: number * PAGE_BYTES,
        len: 4096,
    }
}

/// A thread that changes pages of its own one after another, and commits each.
fn thread(number: u64) -> Thread {
    let change = move |index| {
        let piece = page(number * CHANGES + index);
        let operations = [Kind::Write, Kind::Commit];
        let operations = operations.map(|kind| Operation::call(kind, METADATA, piece));
        ScriptStep::Timed(index, operations.to_vec())
    };
    Thread {
        source: Box::new(Script::new((0..CHANGES).map(change))),
        outstanding: 1,
        start: number * 100_000,
        priority: iostudy_schedulers::Priority::default(),
    }
}

fn run(threads: u64) -> Figures {
    let mut experiment = Experiment {
        scheduler: Noop::build,
        settings: Settings::default(),
        tunables: Vec::new(),
        drive: Parameters::Disk(common::disk()),
        last: None,
        layout: VolumeLayout::default(),
        host: Host::default(),
        files: vec![
            File {
                start: 0,
                pages: 1000,
                journal: Some(1),
            },
            File {
                start: 400_000,
                pages: 64,
                journal: None,
            },
        ],
        jobs: vec![Job::once((0..threads).map(thread).collect(), 0)],
        seed: 1,
    };
    let run = experiment.run(&mut |_| true);
    run.expect("a complete simulation")
}

#[test]
fn a_single_thread_commits_each_change() {
    let figures = run(1);
    assert_eq!(figures.device.flushes, 2 * CHANGES);
    // Descriptor, changed block and commit block of each transaction.
    assert_eq!(figures.device.write.sectors, 3 * 8 * CHANGES);
    let steps = &figures.jobs[0].rounds[0].threads[0].timed_steps;
    let labels: Vec<u64> = steps.iter().map(|step| step.label).collect();
    assert_eq!(labels, (0..CHANGES).collect::<Vec<u64>>());
    for pair in steps.windows(2) {
        assert_eq!(pair[0].ended, pair[1].began);
        assert!(pair[0].ended > pair[0].began);
    }
}

#[test]
fn threads_share_commits() {
    let (alone, together) = (run(1), run(8));
    // While a commit runs, the changes of all others gather for the next one.
    assert!(
        together.device.flushes <= 2 * 2 * CHANGES + 4,
        "{}",
        together.device.flushes
    );
    assert!(together.duration < 3 * alone.duration);
    let steps = together.jobs[0].rounds[0].threads.iter();
    assert!(
        steps
            .map(|thread| thread.timed_steps.len() as u64)
            .all(|steps| steps == CHANGES)
    );
    // Each change is in one transaction.
    let transactions = together.device.flushes / 2;
    let blocks = together.device.write.sectors / 8;
    assert_eq!(blocks, 8 * CHANGES + 2 * transactions);
}
