//! Tests of jobs on real and on damaged files.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use iostudy_engine::{Error, Fault};
use iostudy_events::{Compute, EventResult, InvalidWorkload, Layout, Workload, run};
use iostudy_pattern::{Content, Record};

const LAYOUT: Layout = Layout {
    event_bytes: 40_000,
    gap_bytes: 10_000,
    reads: 7,
};
const SLEEP: Compute = Compute::Sleep(Duration::from_millis(1));

fn workload(folder: &Path, files: usize, jobs: usize) -> Workload {
    Workload {
        paths: (0..files).map(|i| folder.join(i.to_string())).collect(),
        jobs,
        events_per_job: 5,
        layout: LAYOUT,
        compute: SLEEP,
        time: None,
        direct: false,
        seed: 11,
    }
}

fn prepare(workload: &Workload) {
    let len = usize::try_from(workload.file_bytes()).unwrap();
    let mut content = Content::new(workload.seed, 0.0, len).unwrap();
    for (file, path) in (0..).zip(&workload.paths) {
        std::fs::write(path, content.record(file, Record { offset: 0, len })).unwrap();
    }
}

fn run_to_end(workload: &Workload) -> Result<EventResult, Error> {
    run(workload, &mut |_| true)
}

fn expect_fault(outcome: Result<EventResult, Error>) -> (PathBuf, Fault) {
    match outcome {
        Err(Error::File { path, fault }) => (path, fault),
        other => panic!("not an error of a file: {other:?}"),
    }
}

#[test]
fn every_job_reads_all_its_events_for_any_number_of_files() {
    for (files, jobs) in [(3, 3), (1, 3), (2, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let workload = workload(folder.path(), files, jobs);
        prepare(&workload);
        let result = run_to_end(&workload).unwrap();
        assert_eq!(result.events, 15);
        assert_eq!(result.read_bytes, 15 * 40_000);
        assert_eq!(result.latencies.len(), 15);
        assert_eq!(result.jobs.len(), jobs);
        assert!(result.jobs.iter().all(|job| *job >= 5 * SLEEP.time()));
        assert!(result.wall >= *result.jobs.iter().max().unwrap());
    }
}

#[test]
fn jobs_of_one_file_read_different_events() {
    let folder = tempfile::tempdir().unwrap();
    let workload = workload(folder.path(), 1, 2);
    prepare(&workload);
    assert_eq!(workload.file_bytes(), 10 * LAYOUT.span_bytes());
    let file = std::fs::File::options()
        .write(true)
        .open(&workload.paths[0])
        .unwrap();
    let second = 5 * LAYOUT.span_bytes();
    file.set_len(second).unwrap();
    let (_, fault) = expect_fault(run_to_end(&workload));
    let Fault::UnexpectedEof { at, expected } = fault else {
        panic!("{fault}")
    };
    assert!((second..second + LAYOUT.span_bytes()).contains(&at));
    assert_eq!(expected, workload.file_bytes());
}

#[test]
fn an_unfinished_event_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let time = Duration::from_millis(500);
    let requested = Workload {
        compute: Compute::Sleep(Duration::from_millis(300)),
        time: Some(time),
        ..workload(folder.path(), 2, 2)
    };
    prepare(&requested);
    let result = run_to_end(&requested).unwrap();
    assert_eq!(result.events, 2);
    assert_eq!(result.latencies.len(), 2);
    assert_eq!(result.read_bytes, 4 * 40_000);
    assert!(
        result.jobs.iter().all(|job| *job == time),
        "{:?}",
        result.jobs
    );
    let none = Workload {
        time: Some(Duration::ZERO),
        ..requested
    };
    assert_eq!(run_to_end(&none).unwrap().events, 0);
}

#[test]
fn direct_io_reads_whole_pages_and_the_kernel_counts_them() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let layout = Layout {
        event_bytes: 10 * 4096,
        gap_bytes: 3 * 4096,
        reads: 4,
    };
    let requested = Workload {
        layout,
        direct: true,
        ..workload(folder.path(), 2, 2)
    };
    prepare(&requested);
    let result = run_to_end(&requested).unwrap();
    assert_eq!(result.read_bytes, 10 * 10 * 4096);
    if let Some(fetched) = result.fetched_bytes {
        assert!(fetched >= result.read_bytes, "{fetched}");
    }
}

#[test]
fn a_changed_byte_that_is_read_is_named_with_file_and_offset() {
    let folder = tempfile::tempdir().unwrap();
    let workload = workload(folder.path(), 2, 2);
    prepare(&workload);
    let first_stamp_of_a_piece = LAYOUT
        .pieces(workload.seed, 3, 1)
        .next()
        .map(|piece| piece.offset.next_multiple_of(4096))
        .unwrap();
    let file = std::fs::File::options()
        .write(true)
        .open(&workload.paths[1])
        .unwrap();
    let mut byte = [0];
    let read_back = std::fs::File::open(&workload.paths[1]).unwrap();
    read_back
        .read_exact_at(&mut byte, first_stamp_of_a_piece)
        .unwrap();
    file.write_all_at(&[!byte[0]], first_stamp_of_a_piece)
        .unwrap();
    let (path, fault) = expect_fault(run_to_end(&workload));
    let at = first_stamp_of_a_piece;
    assert_eq!(
        (path, fault),
        (workload.paths[1].clone(), Fault::DataMismatch { at })
    );
}

#[test]
fn a_missing_file_is_an_error_of_open() {
    let folder = tempfile::tempdir().unwrap();
    let workload = workload(folder.path(), 2, 2);
    let (_, fault) = expect_fault(run_to_end(&workload));
    assert!(matches!(fault, Fault::Io { call: "open", .. }), "{fault}");
}

#[test]
fn a_stop_interrupts_reading_and_computing() {
    for compute in [Compute::Burn(Duration::MAX), Compute::Sleep(Duration::MAX)] {
        let folder = tempfile::tempdir().unwrap();
        let requested = Workload {
            compute,
            ..workload(folder.path(), 2, 4)
        };
        prepare(&requested);
        let outcome = run(&requested, &mut |done| done < 4 * 40_000);
        assert!(matches!(outcome, Err(Error::Stopped)));
    }
}

#[test]
fn invalid_workloads_are_refused() {
    let good = workload(Path::new("/nowhere"), 2, 2);
    assert_eq!(good.validate(), Ok(()));
    let refused = |workload: &Workload| workload.validate().unwrap_err().to_string();
    let layout = |event_bytes, gap_bytes, reads| Layout {
        event_bytes,
        gap_bytes,
        reads,
    };
    for (jobs, events_per_job, layout, words) in [
        (0, 1, LAYOUT, "jobs is 0"),
        (2, 0, LAYOUT, "events_per_job is 0"),
        (2, 1, layout(0, 0, 1), "event_bytes is 0"),
        (2, 1, layout(10, 0, 0), "reads is 0"),
        (2, 1, layout(10, 0, 11), "11 reads of an event that has 10"),
        (1, 1, LAYOUT, "2 files for 1 jobs"),
        (2, u64::MAX, LAYOUT, "larger than any file"),
        (2, 1, layout(1, u64::MAX, 1), "larger than any file"),
    ] {
        let requested = Workload {
            jobs,
            events_per_job,
            layout,
            ..good.clone()
        };
        assert!(
            refused(&requested).contains(words),
            "{}",
            refused(&requested)
        );
    }
    let unaligned = Workload {
        direct: true,
        ..good.clone()
    };
    let bytes = 40_000;
    let name = "event_bytes";
    assert_eq!(
        unaligned.validate(),
        Err(InvalidWorkload::Unaligned { name, bytes })
    );
}
