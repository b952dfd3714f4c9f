//! Tests of jobs on real files and on failing devices.

mod jobs;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;

use iostudy_engine::{
    Error, Fault, InvalidJob, Job, JobResult, Length, Operation, Pace, SyncCall, SyncPolicy, run,
};
use iostudy_pattern::{Content, Record};
use jobs::{WRITE, in_folder, job};

fn run_to_end(job: &Job) -> Result<JobResult, Error> {
    run(job, &mut |_| true)
}

/// A job that ends only by a stop: it exceeds every device.
fn endless(paths: &[PathBuf]) -> Job {
    job(paths, WRITE, i64::MAX as u64, 4096)
}

fn expect_fault(error: Error) -> (PathBuf, Fault) {
    match error {
        Error::File { path, fault } => (path, fault),
        other => panic!("not an error of a file: {other}"),
    }
}

#[test]
fn written_content_reads_back_with_any_record_size() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 3);
    let file_bytes = 1_300_001;
    let written = run_to_end(&job(&paths, WRITE, file_bytes, 70_000)).unwrap();
    assert_eq!(written.write.bytes, 3 * file_bytes);
    assert_eq!(written.threads.len(), 3);
    assert_eq!(written.write.latencies.len(), 3 * 19);
    assert!(written.wall >= *written.threads.iter().max().unwrap());
    for (index, path) in (0..).zip(&paths) {
        let mut content = Content::new(11, 0.0, 2_000_000).unwrap();
        let whole = Record {
            offset: 0,
            len: 1_300_001,
        };
        let expected = content.record(index, whole);
        assert!(std::fs::read(path).unwrap() == expected, "{index}");
    }
    for record_bytes in [1, 4096, 1_300_001] {
        let files = &paths[..1];
        let read = run_to_end(&job(files, Operation::Read, file_bytes, record_bytes)).unwrap();
        assert_eq!(read.read.bytes, file_bytes);
    }
}

#[test]
fn writing_truncates_existing_data() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 1);
    std::fs::write(&paths[0], vec![1; 100_000]).unwrap();
    let write = job(&paths, WRITE, 5000, 1000);
    let sync = Some(SyncPolicy {
        call: SyncCall::Fsync,
        every_records: 0,
    });
    let written = run_to_end(&Job { sync, ..write }).unwrap();
    assert_eq!(written.sync.len(), 1);
    assert_eq!(std::fs::metadata(&paths[0]).unwrap().len(), 5000);
}

#[test]
fn paths_may_be_arbitrary_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [folder.path().join(OsStr::from_bytes(b"\xff\xfe name"))];
    run_to_end(&job(&paths, WRITE, 10, 3)).unwrap();
    run_to_end(&job(&paths, Operation::Read, 10, 4)).unwrap();
}

#[test]
fn a_wrong_byte_is_named_with_file_and_offset() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 2);
    run_to_end(&job(&paths, WRITE, 1 << 20, 1 << 16)).unwrap();
    let file = std::fs::File::options()
        .write(true)
        .open(&paths[1])
        .unwrap();
    file.write_all_at(&[0; 4096], 40 * 4096).unwrap();
    let error = run_to_end(&job(&paths, Operation::Read, 1 << 20, 1 << 16)).unwrap_err();
    assert_eq!(
        expect_fault(error),
        (paths[1].clone(), Fault::DataMismatch { at: 40 * 4096 })
    );
}

#[test]
fn a_file_cut_short_is_named_with_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), 1);
    run_to_end(&job(&paths, WRITE, 10_000, 1000)).unwrap();
    let read = job(&paths, Operation::Read, 10_001, 1000);
    let expected = Fault::UnexpectedEof {
        at: 10_000,
        expected: 10_001,
    };
    assert_eq!(
        expect_fault(run_to_end(&read).unwrap_err()),
        (paths[0].clone(), expected)
    );
}

#[test]
fn a_missing_file_is_an_error_of_open() {
    let paths = [PathBuf::from("/no/such/folder/file")];
    let error = run_to_end(&job(&paths, Operation::Read, 1, 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/no/such/folder/file: open at byte 0: No such file or directory (os error 2)"
    );
}

#[test]
fn the_first_error_stops_the_other_files() {
    let paths = ["/dev/null", "/dev/full", "/dev/null"].map(PathBuf::from);
    let (path, fault) = expect_fault(run_to_end(&endless(&paths)).unwrap_err());
    assert_eq!(path, paths[1]);
    assert!(
        matches!(fault, Fault::Io { call: "pwrite", offset: 0, errno } if errno.raw_os_error() == 28)
    );
}

#[test]
fn the_caller_can_stop_a_job_and_tick_is_not_called_again() {
    let paths = ["/dev/null", "/dev/null"].map(PathBuf::from);
    let mut requested = 0;
    let outcome = run(&endless(&paths), &mut |_| {
        requested += 1;
        requested < 3
    });
    assert!(matches!(outcome, Err(Error::Stopped)));
    assert_eq!(requested, 3);
}

#[test]
fn more_threads_than_processors_start_and_end() {
    let paths = vec![PathBuf::from("/dev/null"); 64];
    let result = run_to_end(&job(&paths, WRITE, 1 << 20, 4096)).unwrap();
    assert_eq!(result.write.latencies.len(), 64 * 256);
}

#[test]
fn jobs_that_cannot_work_are_refused_with_the_reason() {
    let valid = job(&[PathBuf::from("x")], WRITE, 8192, 4096);
    let direct = Job {
        direct: true,
        ..valid.clone()
    };
    let refusal = |job: Job| job.validate().unwrap_err();
    assert_eq!(valid.validate(), Ok(()));
    assert_eq!(direct.validate(), Ok(()));
    assert_eq!(
        refusal(Job {
            threads: vec![],
            ..valid.clone()
        }),
        InvalidJob::NoPaths
    );
    assert_eq!(
        refusal(Job {
            file_bytes: 0,
            ..valid.clone()
        }),
        InvalidJob::Zero { name: "file_bytes" }
    );
    assert_eq!(
        refusal(Job {
            record_bytes: 0,
            ..valid.clone()
        }),
        InvalidJob::Zero {
            name: "record_bytes"
        }
    );
    assert_eq!(
        refusal(Job {
            record_bytes: 8193,
            ..valid
        }),
        InvalidJob::RecordLargerThanFile {
            record_bytes: 8193,
            file_bytes: 8192
        }
    );
    assert_eq!(
        refusal(Job {
            record_bytes: 512,
            ..direct.clone()
        }),
        InvalidJob::Unaligned {
            name: "record_bytes",
            bytes: 512
        }
    );
    assert_eq!(
        refusal(Job {
            file_bytes: 8191,
            ..direct
        }),
        InvalidJob::Unaligned {
            name: "file_bytes",
            bytes: 8191
        }
    );
}

#[test]
fn times_and_rates_beyond_the_clock_are_refused() {
    let valid = job(&[PathBuf::from("x")], WRITE, 8192, 4096);
    let ages = Duration::from_secs(1 << 40);
    let out_of_range = [
        Job {
            length: Length::Time(ages),
            ..valid.clone()
        },
        Job {
            ramp: ages,
            ..valid.clone()
        },
        Job {
            pace: Pace::ThinkTime(ages),
            ..valid.clone()
        },
        Job {
            pace: Pace::RateLimited { per_second: 1e-10 },
            ..valid.clone()
        },
    ];
    for job in out_of_range {
        assert!(matches!(job.validate(), Err(InvalidJob::OutOfRange { .. })));
    }
    let nothing = Job {
        length: Length::Bytes(0),
        ..valid
    };
    let name = "total_bytes";
    assert_eq!(nothing.validate(), Err(InvalidJob::Zero { name }));
}
