//! Jobs whose records are moved by `io_uring`. Where the kernel forbids it they fall back to psync;
//! then there is nothing to be tested here, and each test says so.

mod jobs;

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use iostudy_engine::{
    Error, Fault, Job, JobResult, Length, Method, Note, Operation, Order, Pace, Ring, Sync,
    SyncCall, run,
};
use jobs::{WRITE, in_folder, job};

const FILE_BYTES: u64 = 4 << 20;
const RECORD_BYTES: usize = 4096;
const DEEP: Ring = Ring {
    depth: 32,
    batch: 1,
    sqpoll: false,
    iopoll: false,
};

fn ring_job(paths: &[PathBuf], operation: Operation, ring: Ring) -> Job {
    Job {
        method: Method::IoUring(ring),
        ..job(paths, operation, FILE_BYTES, RECORD_BYTES)
    }
}

/// Whether there is an `io_uring` to be tested.
fn has_ring() -> bool {
    let probe = Job {
        length: Length::Bytes(1),
        ..ring_job(&[PathBuf::from("/dev/null")], WRITE, DEEP)
    };
    match run(&probe, |_| true).unwrap().notes.first() {
        Some(note @ Note::NoIoUring { .. }) => {
            eprintln!("skipped: {note}");
            false
        }
        Some(Note::BuffersUnregistered { .. }) | None => true,
    }
}

/// A file with its content, in the current folder: temporary ones need not have direct I/O.
fn written(folder: &Path) -> Vec<PathBuf> {
    let paths = in_folder(folder, 1);
    run(&job(&paths, WRITE, FILE_BYTES, RECORD_BYTES), |_| true).unwrap();
    paths
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn carry_out(job: &Job) -> Result<JobResult, Error> {
    run(job, |_| true)
}

fn fault_of(outcome: Result<JobResult, Error>) -> Fault {
    match outcome {
        Err(Error::File { fault, .. }) => fault,
        other => panic!("not an error of a file: {other:?}"),
    }
}

#[test]
fn as_many_records_are_under_way_as_asked() {
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
        let done = carry_out(&read).unwrap();
        let latencies = &done.read.latencies;
        assert_eq!(latencies.len(), 8 * 1024);
        // Little's law: those in a system are their rate times how long each stays.
        #[allow(clippy::cast_precision_loss)]
        let stays = latencies.mean() * latencies.len() as f64;
        let under_way = stays / 1e9 / done.wall.as_secs_f64();
        assert!((16.0..33.0).contains(&under_way), "{under_way}");
    }
}

#[test]
fn whatever_the_ring_is_like_what_is_written_reads_back() {
    let folder = folder();
    let paths = in_folder(folder.path(), 2);
    let rings = [(1, 1, false), (32, 32, false), (33, 7, true)];
    for (depth, batch, sqpoll) in rings {
        let ring = Ring {
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
                let done = carry_out(&work).unwrap();
                assert_eq!(done.read.bytes + done.write.bytes, 2 * FILE_BYTES);
            }
            let check = job(&paths, Operation::Read, FILE_BYTES, 12_288);
            carry_out(&check).unwrap();
        }
    }
}

#[test]
fn a_mix_under_way_at_once_stays_right() {
    let folder = folder();
    let paths = written(folder.path());
    let mix = Job {
        order: Order::Zipf { exponent: 1.0 }, // the same records again and again
        length: Length::Bytes(4 * FILE_BYTES),
        ..ring_job(&paths, Operation::Mix { read_percent: 50 }, DEEP)
    };
    carry_out(&mix).unwrap();
    carry_out(&job(&paths, Operation::Read, FILE_BYTES, RECORD_BYTES)).unwrap();
}

#[test]
fn records_that_end_before_the_kernels_thread_has_begun_all_leave_room_for_others() {
    let folder = folder();
    let paths = written(folder.path());
    if !has_ring() {
        return;
    }
    let ring = Ring {
        depth: 8,
        sqpoll: true,
        ..DEEP
    };
    let mix = Job {
        order: Order::Random,
        length: Length::Bytes(8 * FILE_BYTES),
        ..ring_job(&paths, Operation::Mix { read_percent: 50 }, ring)
    };
    carry_out(&mix).unwrap();
}

#[test]
fn a_wrong_byte_is_named_among_all_under_way() {
    let folder = folder();
    let paths = written(folder.path());
    let file = std::fs::File::options().write(true).open(&paths[0]);
    file.unwrap().write_all_at(&[0; 4096], 40 * 4096).unwrap();
    for order in [Order::Sequential, Order::Random] {
        let read = Job {
            order,
            ..ring_job(&paths, Operation::Read, DEEP)
        };
        let differs = Fault::Differs { at: 40 * 4096 };
        assert_eq!(fault_of(carry_out(&read)), differs);
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
    let expected = Fault::EndsEarly {
        at: FILE_BYTES,
        expected: FILE_BYTES + 1,
    };
    assert_eq!(fault_of(carry_out(&read)), expected);
}

#[test]
fn what_the_kernel_refuses_is_an_error_of_its_file_and_byte() {
    if !has_ring() {
        return;
    }
    let full = ring_job(&[PathBuf::from("/dev/full")], WRITE, DEEP);
    let fault = fault_of(carry_out(&full));
    assert!(
        matches!(fault, Fault::Io { call: "io_uring write", errno, .. } if errno.raw_os_error() == 28),
        "{fault}"
    );
}

#[test]
fn a_device_that_cannot_be_polled_is_an_error_that_says_so() {
    let folder = folder();
    let paths = written(folder.path());
    if !has_ring() {
        return;
    }
    let ring = Ring {
        iopoll: true,
        ..DEEP
    };
    let read = Job {
        direct: true,
        ..ring_job(&paths, Operation::Read, ring)
    };
    match carry_out(&read) {
        Ok(done) => assert_eq!(done.read.bytes, FILE_BYTES),
        outcome => assert!(
            matches!(fault_of(outcome), Fault::Io { call: "io_uring read", errno, .. }
                if errno.raw_os_error() == 95)
        ),
    }
}

#[test]
fn a_stop_is_heard_with_records_under_way_and_without() {
    let paths = [PathBuf::from("/dev/null")];
    let paces = [
        Pace::Free,
        Pace::Think(Duration::from_secs(3600)),
        Pace::Open {
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
        let outcome = run(&endless, |_| before.elapsed() < Duration::from_millis(100));
        assert!(matches!(outcome, Err(Error::Stopped)));
        assert!(before.elapsed() < Duration::from_secs(1));
    }
}

#[test]
fn syncs_come_after_so_many_records_and_at_the_end() {
    let folder = folder();
    let paths = in_folder(folder.path(), 1);
    let sync = Some(Sync {
        call: SyncCall::Fdatasync,
        every_records: 100,
    });
    let write = Job {
        sync,
        ..ring_job(&paths, WRITE, DEEP)
    };
    assert_eq!(carry_out(&write).unwrap().sync.len(), 10 + 1);
    carry_out(&job(&paths, Operation::Read, FILE_BYTES, RECORD_BYTES)).unwrap();
}

#[test]
fn a_limit_and_an_open_loop_are_kept() {
    let folder = folder();
    let paths = in_folder(folder.path(), 1);
    for pace in [
        Pace::Limited { per_second: 1000.0 },
        Pace::Open {
            per_second: 1000.0,
            poisson: false,
        },
    ] {
        let write = Job {
            pace,
            length: Length::Bytes(200 * 4096),
            ..ring_job(&paths, WRITE, DEEP)
        };
        let done = carry_out(&write).unwrap();
        assert_eq!(done.write.latencies.len(), 200);
        assert!(done.wall >= Duration::from_millis(198));
    }
}

#[test]
fn an_open_loop_counts_from_the_arrival_and_tells_what_it_never_began() {
    let flood = Job {
        length: Length::Time(Duration::from_millis(100)),
        pace: Pace::Open {
            per_second: 1e8,
            poisson: true,
        },
        ..ring_job(&[PathBuf::from("/dev/null")], WRITE, DEEP)
    };
    let done = carry_out(&flood).unwrap();
    #[allow(clippy::cast_precision_loss)]
    let share = (done.write.latencies.len() + done.overdue) as f64 / 1e7;
    assert!((share - 1.0).abs() < 0.05, "{share}");
    assert!(done.write.latencies.max() > 50_000_000);
}
