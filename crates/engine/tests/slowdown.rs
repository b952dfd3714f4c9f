//! Tests of slow-downs.

mod jobs;

use std::path::{Path, PathBuf};
use std::time::Duration;

use iostudy_engine::{
    InvalidJob, Job, JobResult, Length, Method, Operation, Order, Pace, UringOptions, run,
};
use iostudy_latency::Latencies;
use jobs::{WRITE, in_folder, job};

const FILE_BYTES: u64 = 4 << 20;
const RECORD_BYTES: usize = 16 << 10;

/// A mean of latencies is off by at most the width of a bucket.
const HISTOGRAM_EXACT_TO: f64 = 0.99;

/// Create a folder in the current directory: tmpfs lacks direct I/O.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn written(folder: &Path) -> Vec<PathBuf> {
    let paths = in_folder(folder, 1);
    run(&job(&paths, WRITE, FILE_BYTES, RECORD_BYTES), &mut |_| true).unwrap();
    paths
}

fn slowed(paths: &[PathBuf], share: f64) -> Job {
    Job {
        direct: true,
        order: Order::Random,
        length: Length::Time(Duration::from_millis(400)),
        pace: Pace::SlowedDown { share },
        ..job(paths, Operation::Read, FILE_BYTES, RECORD_BYTES)
    }
}

/// Share of a single thread's time that its records did not take.
fn waiting_share(done: &JobResult) -> f64 {
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
    let ring = Method::IoUring(UringOptions {
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
            let waited = || waiting_share(&run(&work, &mut |_| true).unwrap());
            // Open, close and late wake-ups are outside record time, as is time used by other
            // processes. Therefore the test retries.
            let off = (0..5)
                .map(|_| (waited() - share).abs())
                .find(|off| *off < 0.01);
            assert!(off.is_some(), "not {share} in five tries");
        }
    }
}

#[test]
fn sync_and_close_are_slowed_down_too() {
    let folder = folder();
    let paths = in_folder(folder.path(), 1);
    let share = 0.5;
    let write = Job {
        create: true,
        operation: WRITE,
        length: Length::Pass,
        sync: Some(iostudy_engine::SyncPolicy {
            call: iostudy_engine::SyncCall::Fsync,
            every_records: 0,
        }),
        ..slowed(&paths, share)
    };
    let done = run(&write, &mut |_| true).unwrap();
    let phases = done.phases[0];
    assert_eq!(
        phases.open + phases.records + phases.sync + phases.close,
        done.threads[0]
    );
    // At least half of the time is waiting; open, sync and records share the other half. A late
    // wake-up is compensated by a shorter sleep at the end.
    let around = (phases.open + phases.sync).as_secs_f64();
    let worked = around + HISTOGRAM_EXACT_TO * seconds(&done.write.latencies);
    assert!(
        done.threads[0].as_secs_f64() >= worked / share,
        "{phases:?}"
    );
}

#[test]
fn concurrent_io_during_a_slow_down_is_refused() {
    let path = |name: &str| PathBuf::from(name);
    let alone = slowed(&[path("a")], 0.05);
    assert_eq!(alone.validate(), Ok(()));
    let deep = Method::IoUring(UringOptions {
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
        assert_eq!(job.validate(), Err(InvalidJob::InexactSlowdown));
    }
    for share in [1.0, f64::NAN, -0.1] {
        assert!(slowed(&[path("a")], share).validate().is_err(), "{share}");
    }
}
