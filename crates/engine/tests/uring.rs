//! Tests of `io_uring` jobs. Where the kernel forbids `io_uring`, each test prints a message and
//! passes.

mod jobs;

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use iostudy_engine::{
    Error, Fallback, Fault, Job, JobResult, Length, Method, Operation, Order, Pace, SyncCall,
    SyncPolicy, UringOptions, run,
};
use jobs::{WRITE, in_folder, job};

const FILE_BYTES: u64 = 4 << 20;
const RECORD_BYTES: usize = 4096;
const DEEP: UringOptions = UringOptions {
    depth: 32,
    batch: 1,
    sqpoll: false,
    iopoll: false,
};

fn ring_job(paths: &[PathBuf], operation: Operation, ring: UringOptions) -> Job {
    Job {
        method: Method::IoUring(ring),
        ..job(paths, operation, FILE_BYTES, RECORD_BYTES)
    }
}

/// Whether `io_uring` is available.
fn has_ring() -> bool {
    let probe = Job {
        length: Length::Bytes(1),
        ..ring_job(&[PathBuf::from("/dev/null")], WRITE, DEEP)
    };
    match run(&probe, &mut |_| true).unwrap().fallbacks.first() {
        Some(fallback @ Fallback::NoIoUring { .. }) => {
            eprintln!("skipped: {fallback}");
            false
        }
        Some(Fallback::BuffersUnregistered { .. }) | None => true,
    }
}

/// Write a file in the current directory: tmpfs lacks direct I/O.
fn written(folder: &Path) -> Vec<PathBuf> {
    let paths = in_folder(folder, 1);
    run(&job(&paths, WRITE, FILE_BYTES, RECORD_BYTES), &mut |_| true).unwrap();
    paths
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn run_to_end(job: &Job) -> Result<JobResult, Error> {
    run(job, &mut |_| true)
}

fn expect_fault(outcome: Result<JobResult, Error>) -> Fault {
    match outcome {
        Err(Error::File { fault, .. }) => fault,
        other => panic!("not an error of a file: {other:?}"),
    }
}

#[test]
fn the_queue_depth_is_as_requested() {
    let folder = folder();
    let paths = written(folder.path());
    if !has_ring() {
        return;
    }
    for direct in [false, true] {
        let read = Job {
            direct,
            order: Order::Random,
            length: Length::Bytes(8 * FILE_BYTES),
            ..ring_job(&paths, Operation::Read, DEEP)
        };
        let done = run_to_end(&read).unwrap();
        let latencies = &done.read.latencies;
        assert_eq!(latencies.len(), 8 * 1024);
        // Little's law: the number in flight is the rate times the mean latency.
        #[allow(clippy::cast_precision_loss)]
        let stays = latencies.mean() * latencies.len() as f64;
        let under_way = stays / 1e9 / done.wall.as_secs_f64();
        assert!((16.0..33.0).contains(&under_way), "{under_way}");
    }
}

#[test]
fn written_data_read_back_with_any_ring_options() {
    let folder = folder();
    let paths = in_folder(folder.path(), 2);
    let rings = [(1, 1, false), (32, 32, false), (33, 7, true)];
    for (depth, batch, sqpoll) in rings {
        let ring = UringOptions {
            depth,
            batch,
            sqpoll,
            iopoll: false,
        };
        for (direct, record_bytes) in [(true, RECORD_BYTES), (true, 1 << 20), (false, 70_001)] {
            for operation in [WRITE, Operation::Read] {
                let work = Job {
                    direct,
                    record_bytes,
                    ..ring_job(&paths, operation, ring)
                };
                let done = run_to_end(&work).unwrap();
                assert_eq!(done.read.bytes + done.write.bytes, 2 * FILE_BYTES);
            }
            let check = job(&paths, Operation::Read, FILE_BYTES, 12_288);
            run_to_end(&check).unwrap();
        }
    }
}

#[test]
fn a_concurrent_mix_keeps_the_data_correct() {
    let folder = folder();
    let paths = written(folder.path());
    let mix = Job {
        order: Order::Zipf { exponent: 1.0 }, // repeats the same records
        length: Length::Bytes(4 * FILE_BYTES),
        ..ring_job(&paths, Operation::Mix { read_percent: 50 }, DEEP)
    };
    run_to_end(&mix).unwrap();
    run_to_end(&job(&paths, Operation::Read, FILE_BYTES, RECORD_BYTES)).unwrap();
}

#[test]
fn early_completions_of_the_polling_thread_leave_free_entries() {
    let folder = folder();
    let paths = written(folder.path());
    if !has_ring() {
        return;
    }
    let ring = UringOptions {
        depth: 8,
        sqpoll: true,
        ..DEEP
    };
    let mix = Job {
        order: Order::Random,
        length: Length::Bytes(8 * FILE_BYTES),
        ..ring_job(&paths, Operation::Mix { read_percent: 50 }, ring)
    };
    run_to_end(&mix).unwrap();
}

#[test]
fn a_wrong_byte_is_found_among_all_records_in_flight() {
    let folder = folder();
    let paths = written(folder.path());
    let file = std::fs::File::options().write(true).open(&paths[0]);
    file.unwrap().write_all_at(&[0; 4096], 40 * 4096).unwrap();
    for order in [Order::Sequential, Order::Random] {
        let read = Job {
            order,
            ..ring_job(&paths, Operation::Read, DEEP)
        };
        let differs = Fault::DataMismatch { at: 40 * 4096 };
        assert_eq!(expect_fault(run_to_end(&read)), differs);
    }
}

#[test]
fn a_file_cut_short_is_named_with_its_end() {
    let folder = folder();
    let paths = written(folder.path());
    let read = Job {
        file_bytes: FILE_BYTES + 1,
        record_bytes: 10_000,
        ..ring_job(&paths, Operation::Read, DEEP)
    };
    let expected = Fault::UnexpectedEof {
        at: FILE_BYTES,
        expected: FILE_BYTES + 1,
    };
    assert_eq!(expect_fault(run_to_end(&read)), expected);
}

#[test]
fn a_kernel_error_names_file_and_offset() {
    if !has_ring() {
        return;
    }
    let full = ring_job(&[PathBuf::from("/dev/full")], WRITE, DEEP);
    let fault = expect_fault(run_to_end(&full));
    assert!(
        matches!(fault, Fault::Io { call: "io_uring write", errno, .. } if errno.raw_os_error() == 28),
        "{fault}"
    );
}

#[test]
fn a_device_without_polling_is_a_clear_error() {
    let folder = folder();
    let paths = written(folder.path());
    if !has_ring() {
        return;
    }
    let ring = UringOptions {
        iopoll: true,
        ..DEEP
    };
    let read = Job {
        direct: true,
        ..ring_job(&paths, Operation::Read, ring)
    };
    match run_to_end(&read) {
        Ok(done) => assert_eq!(done.read.bytes, FILE_BYTES),
        outcome => assert!(
            matches!(expect_fault(outcome), Fault::Io { call: "io_uring read", errno, .. }
                if errno.raw_os_error() == 95)
        ),
    }
}

#[test]
fn a_stop_works_with_and_without_records_in_flight() {
    let paths = [PathBuf::from("/dev/null")];
    let paces = [
        Pace::ClosedLoop,
        Pace::ThinkTime(Duration::from_secs(3600)),
        Pace::OpenLoop {
            per_second: 1e9,
            poisson: true,
        },
    ];
    for pace in paces {
        let endless = Job {
            file_bytes: 1 << 40,
            pace,
            ..ring_job(&paths, WRITE, DEEP)
        };
        let before = Instant::now();
        let outcome = run(&endless, &mut |_| {
            before.elapsed() < Duration::from_millis(100)
        });
        assert!(matches!(outcome, Err(Error::Stopped)));
        assert!(before.elapsed() < Duration::from_secs(1));
    }
}

#[test]
fn syncs_happen_at_intervals_and_at_the_end() {
    let folder = folder();
    let paths = in_folder(folder.path(), 1);
    let sync = Some(SyncPolicy {
        call: SyncCall::Fdatasync,
        every_records: 100,
    });
    let write = Job {
        sync,
        ..ring_job(&paths, WRITE, DEEP)
    };
    assert_eq!(run_to_end(&write).unwrap().sync.len(), 10 + 1);
    run_to_end(&job(&paths, Operation::Read, FILE_BYTES, RECORD_BYTES)).unwrap();
}

#[test]
fn rate_limit_and_open_loop_rate_are_exact() {
    let folder = folder();
    let paths = in_folder(folder.path(), 1);
    for pace in [
        Pace::RateLimited { per_second: 1000.0 },
        Pace::OpenLoop {
            per_second: 1000.0,
            poisson: false,
        },
    ] {
        let write = Job {
            pace,
            length: Length::Bytes(200 * 4096),
            ..ring_job(&paths, WRITE, DEEP)
        };
        let done = run_to_end(&write).unwrap();
        assert_eq!(done.write.latencies.len(), 200);
        assert!(done.wall >= Duration::from_millis(198));
    }
}

#[test]
fn open_loop_latency_counts_from_the_arrival_and_unissued_records_are_counted() {
    let flood = Job {
        length: Length::Time(Duration::from_millis(100)),
        pace: Pace::OpenLoop {
            per_second: 1e8,
            poisson: true,
        },
        ..ring_job(&[PathBuf::from("/dev/null")], WRITE, DEEP)
    };
    let done = run_to_end(&flood).unwrap();
    #[allow(clippy::cast_precision_loss)]
    let share = (done.write.latencies.len() + done.unissued) as f64 / 1e7;
    assert!((share - 1.0).abs() < 0.05, "{share}");
    assert!(done.write.latencies.max() > 50_000_000);
}
