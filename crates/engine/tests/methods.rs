//! Tests of I/O methods, orders and pacing.

mod jobs;

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use iostudy_engine::{
    Advice, Job, Length, Method, Operation, Order, Pace, SyncCall, SyncPolicy, UringOptions, run,
};
use jobs::{WRITE, in_folder, job};
use proptest::prelude::*;

const FILE_BYTES: u64 = 1 << 20;
const RECORD_BYTES: usize = 4096;
const RECORDS: u64 = FILE_BYTES / RECORD_BYTES as u64;

fn any_order() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Sequential),
        Just(Order::Reverse),
        Just(Order::Random),
        (1_u64..70).prop_map(|step| Order::Strided {
            step: NonZeroU64::new(step).unwrap()
        }),
    ]
}

fn any_method() -> impl Strategy<Value = Method> {
    prop_oneof![
        Just(Method::Positioned),
        Just(Method::Seek),
        Just(Method::Stdio),
        (1_u32..9, 1_u32..9, any::<bool>()).prop_map(|(depth, batch, sqpoll)| {
            Method::IoUring(UringOptions {
                depth,
                batch: batch.min(depth),
                sqpoll,
                iopoll: false,
            })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_written_in_any_order_by_any_method_reads_back_in_any_other(
        orders in (any_order(), any_order()),
        methods in (any_method(), any_method()),
        files_per_thread in 1_usize..4,
        record_bytes in 500_usize..9000,
        read_bytes in 500_usize..9000,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let paths = in_folder(folder.path(), 2 * files_per_thread);
        let threads: Vec<_> = paths.chunks(files_per_thread).map(<[_]>::to_vec).collect();
        let write = Job {
            threads: threads.clone(),
            order: orders.0,
            method: methods.0,
            ..job(&paths, WRITE, 50_000, record_bytes)
        };
        prop_assert_eq!(run(&write, &mut |_| true).unwrap().write.bytes, 50_000 * paths.len() as u64);
        let read = Job {
            threads,
            order: orders.1,
            method: methods.1,
            ..job(&paths, Operation::Read, 50_000, read_bytes)
        };
        prop_assert_eq!(run(&read, &mut |_| true).unwrap().read.bytes, 50_000 * paths.len() as u64);
    }
}

#[test]
fn a_mix_reads_its_share_and_writes_correct_data() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 1);
    run(&job(&paths, WRITE, FILE_BYTES, RECORD_BYTES), &mut |_| true).unwrap();
    let mix = Job {
        order: Order::Random,
        length: Length::Bytes(8 * FILE_BYTES),
        ..job(
            &paths,
            Operation::Mix { read_percent: 70 },
            FILE_BYTES,
            RECORD_BYTES,
        )
    };
    let done = run(&mix, &mut |_| true).unwrap();
    let (reads, writes) = (done.read.latencies.len(), done.write.latencies.len());
    assert_eq!(reads + writes, 8 * RECORDS);
    // 70 % of 2048, with a standard deviation of 21.
    assert!((1330..1540).contains(&reads), "{reads}");
    run(
        &job(&paths, Operation::Read, FILE_BYTES, RECORD_BYTES),
        &mut |_| true,
    )
    .unwrap();
}

#[test]
fn records_may_begin_after_existing_data() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 1);
    run(&job(&paths, WRITE, FILE_BYTES, RECORD_BYTES), &mut |_| true).unwrap();
    let append = Job {
        create: false,
        begin_bytes: FILE_BYTES,
        ..job(&paths, WRITE, FILE_BYTES, RECORD_BYTES)
    };
    run(&append, &mut |_| true).unwrap();
    run(
        &job(&paths, Operation::Read, 2 * FILE_BYTES, 12_288),
        &mut |_| true,
    )
    .unwrap();
}

#[test]
fn syncs_happen_at_intervals_and_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 2);
    let sync = Some(SyncPolicy {
        call: SyncCall::Fdatasync,
        every_records: 100,
    });
    let write = Job {
        sync,
        allocate: true,
        advice: Some(Advice::Sequential),
        ..job(&paths, WRITE, FILE_BYTES, RECORD_BYTES)
    };
    assert_eq!(
        run(&write, &mut |_| true).unwrap().sync.len(),
        2 * (RECORDS / 100 + 1)
    );
}

#[test]
fn a_timed_job_ends_on_time_and_excludes_its_ramp() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 1);
    let write = Job {
        length: Length::Time(Duration::from_millis(200)),
        ramp: Duration::from_millis(300),
        pace: Pace::ThinkTime(Duration::from_millis(1)),
        ..job(&paths, WRITE, FILE_BYTES, RECORD_BYTES)
    };
    let before = Instant::now();
    let done = run(&write, &mut |_| true).unwrap();
    assert!(before.elapsed() >= Duration::from_millis(500));
    let uncounted = before.elapsed().saturating_sub(done.wall);
    assert!(uncounted >= Duration::from_millis(250), "{uncounted:?}");
    assert!((1..=200).contains(&done.write.latencies.len()));
    assert_eq!(
        done.write.bytes,
        done.write.latencies.len() * RECORD_BYTES as u64
    );
}

#[test]
fn the_rate_limit_holds() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 1);
    let write = Job {
        pace: Pace::RateLimited { per_second: 200.0 },
        ..job(&paths, WRITE, 50 * 4096, RECORD_BYTES)
    };
    assert!(run(&write, &mut |_| true).unwrap().wall >= Duration::from_millis(245));
}

#[test]
fn open_loop_latency_counts_from_the_arrival_and_unissued_records_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 1);
    let flood = Job {
        length: Length::Time(Duration::from_millis(100)),
        pace: Pace::OpenLoop {
            per_second: 1e8,
            poisson: true,
        },
        ..job(&paths, WRITE, FILE_BYTES, RECORD_BYTES)
    };
    let done = run(&flood, &mut |_| true).unwrap();
    let (begun, unissued) = (done.write.latencies.len(), done.unissued);
    let arrived = 10_000_000.0;
    #[allow(clippy::cast_precision_loss)]
    let share = (begun + unissued) as f64 / arrived;
    assert!(
        (share - 1.0).abs() < 0.05,
        "{begun} begun, {unissued} overdue"
    );
    // The last issued records arrived long before: in a closed loop each takes microseconds.
    assert!(done.write.latencies.max() > 50_000_000);
}

#[test]
fn an_open_loop_below_saturation_issues_all_arrivals() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 1);
    let calm = Job {
        pace: Pace::OpenLoop {
            per_second: 1000.0,
            poisson: false,
        },
        ..job(&paths, WRITE, 100 * 4096, RECORD_BYTES)
    };
    let done = run(&calm, &mut |_| true).unwrap();
    assert!(done.wall >= Duration::from_millis(98));
    assert_eq!((done.write.latencies.len(), done.unissued), (100, 0));
}

#[test]
fn a_failed_stream_flush_is_an_error() {
    let full = Job {
        method: Method::Stdio,
        ..job(&[PathBuf::from("/dev/full")], WRITE, 100, 100)
    };
    let error = run(&full, &mut |_| true).unwrap_err().to_string();
    assert!(
        error.starts_with("/dev/full: fclose at byte 100: No space left"),
        "{error}"
    );
}

#[test]
fn the_phases_of_a_thread_fill_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 1);
    let sync = Some(SyncPolicy {
        call: SyncCall::Fsync,
        every_records: 0,
    });
    let write = Job {
        sync,
        ..job(&paths, WRITE, FILE_BYTES, RECORD_BYTES)
    };
    let done = run(&write, &mut |_| true).unwrap();
    let phases = done.phases[0];
    assert_eq!(
        phases.open + phases.records + phases.sync + phases.close,
        done.threads[0]
    );
    assert!(phases.sync >= Duration::from_nanos(done.sync.max() * 9 / 10));
}
