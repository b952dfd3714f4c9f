//! A job that is slower by a share that is known.

mod jobs;

use std::path::{Path, PathBuf};
use std::time::Duration;

use iostudy_engine::{Invalid, Job, JobResult, Length, Method, Operation, Order, Pace, Ring, run};
use iostudy_latency::Latencies;
use jobs::{WRITE, in_folder, job};

const FILE_BYTES: u64 = 4 << 20;
const RECORD_BYTES: usize = 16 << 10;

/// A mean of latencies is off by what one of their buckets is wide, at most.
const HISTOGRAM_EXACT_TO: f64 = 0.99;

/// Temporary files need not have direct I/O.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn written(folder: &Path) -> Vec<PathBuf> {
    let paths = in_folder(folder, 1);
    run(&job(&paths, WRITE, FILE_BYTES, RECORD_BYTES), |_| true).unwrap();
    paths
}

fn slowed(paths: &[PathBuf], share: f64) -> Job {
    Job {
        direct: true,
        order: Order::Random,
        length: Length::Time(Duration::from_millis(400)),
        pace: Pace::Slowed { share },
        ..job(paths, Operation::Read, FILE_BYTES, RECORD_BYTES)
    }
}

/// Which share of the time of a job of one thread its records have not taken.
fn share_waited(done: &JobResult) -> f64 {
    1.0 - seconds(&done.read.latencies) / done.wall.as_secs_f64()
}

#[allow(clippy::cast_precision_loss)]
fn seconds(latencies: &Latencies) -> f64 {
    latencies.mean() * latencies.len() as f64 / 1e9
}

#[test]
fn a_thread_waits_for_its_share_of_the_time() {
    let folder = folder();
    let paths = written(folder.path());
    let ring = Method::IoUring(Ring {
        depth: 1,
        batch: 1,
        sqpoll: false,
        iopoll: false,
    });
    for method in [Method::Positioned, ring] {
        for share in [0.05, 0.1, 0.5] {
            let work = Job {
                method,
                ..slowed(&paths, share)
            };
            let waited = || share_waited(&run(&work, |_| true).unwrap());
            // Opening and closing, and a sleep that ends late, are no time of any record; nor is
            // time in which the machine does something else, so there is more than one try.
            let off = (0..5)
                .map(|_| (waited() - share).abs())
                .find(|off| *off < 0.01);
            assert!(off.is_some(), "not {share} in five tries");
        }
    }
}

#[test]
fn what_ends_the_files_is_waited_for_too() {
    let folder = folder();
    let paths = in_folder(folder.path(), 1);
    let share = 0.5;
    let write = Job {
        create: true,
        operation: WRITE,
        length: Length::Pass,
        sync: Some(iostudy_engine::Sync {
            call: iostudy_engine::SyncCall::Fsync,
            every_records: 0,
        }),
        ..slowed(&paths, share)
    };
    let done = run(&write, |_| true).unwrap();
    let phases = done.phases[0];
    assert_eq!(
        phases.open + phases.records + phases.sync + phases.close,
        done.threads[0]
    );
    // At least half of all is waiting: as much as opening, syncing and what of the records is none.
    // A sleep that ended late is made up for by a shorter one at the end.
    let around = (phases.open + phases.sync).as_secs_f64();
    let worked = around + HISTOGRAM_EXACT_TO * seconds(&done.write.latencies);
    assert!(
        done.threads[0].as_secs_f64() >= worked / share,
        "{phases:?}"
    );
}

#[test]
fn it_is_refused_where_something_goes_on_while_a_thread_waits() {
    let path = |name: &str| PathBuf::from(name);
    let alone = slowed(&[path("a")], 0.05);
    assert_eq!(alone.validate(), Ok(()));
    let deep = Method::IoUring(Ring {
        depth: 2,
        batch: 1,
        sqpoll: false,
        iopoll: false,
    });
    let others = [
        slowed(&[path("a"), path("b")], 0.05),
        Job {
            direct: false,
            ..alone.clone()
        },
        Job {
            method: deep,
            ..alone.clone()
        },
    ];
    for job in others {
        assert_eq!(job.validate(), Err(Invalid::NotSlowedExactly));
    }
    for share in [0.0, 1.0, f64::NAN, -0.1] {
        assert!(slowed(&[path("a")], share).validate().is_err(), "{share}");
    }
}
