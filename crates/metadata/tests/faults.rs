//! Tests of invalid jobs and of damaged trees.

mod common;

use std::fs;
use std::path::Path;

use common::job;
use iostudy_metadata::{Error, Fault, InvalidJob, Job, Operation, run};
use tempfile::tempdir;

const FIRST: &str = "thread-1/t0/t1/f10";

/// Path and fault that a phase reports after `change` to its tree.
fn reported(operation: Operation, change: impl FnOnce(&Path)) -> (String, Fault) {
    let path = tempdir().unwrap();
    let changed = job(path.path(), &[operation]);
    run(
        &job(path.path(), &changed.required_operations()),
        &mut |_| true,
    )
    .unwrap();
    change(&changed.directory);
    match run(&changed, &mut |_| true) {
        Err(Error::Path { path, fault }) => {
            let subdirectories = path.strip_prefix(&changed.directory).unwrap();
            (subdirectories.to_str().unwrap().to_owned(), fault)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn changed_data_are_found_at_their_offset() {
    let (path, fault) = reported(Operation::OpenRead, |tree| {
        let mut data = fs::read(tree.join(FIRST)).unwrap();
        data[3] ^= 1;
        fs::write(tree.join(FIRST), data).unwrap();
    });
    assert_eq!(
        (path.as_str(), fault),
        (FIRST, Fault::DataMismatch { at: 3 })
    );
}

#[test]
fn a_file_cut_or_grown_is_found_by_reading_and_by_stat() {
    for operation in [Operation::OpenRead, Operation::Stat] {
        for found in [0, 99, 101] {
            let (path, fault) = reported(operation, |tree| {
                let file = fs::File::options().write(true).open(tree.join(FIRST));
                file.unwrap().set_len(found).unwrap();
            });
            let expected = Fault::Size {
                found,
                expected: 100,
            };
            assert_eq!((path.as_str(), fault), (FIRST, expected));
        }
    }
}

#[test]
fn every_operation_reports_a_missing_file() {
    let of_files = [
        Operation::OpenRead,
        Operation::Stat,
        Operation::Rename,
        Operation::Delete,
    ];
    for operation in of_files {
        let (path, fault) = reported(operation, |tree| fs::remove_file(tree.join(FIRST)).unwrap());
        assert_eq!(path, FIRST);
        assert!(matches!(fault, Fault::Io { errno, .. } if errno.raw_os_error() == 2));
    }
}

#[test]
fn a_listing_detects_missing_and_extra_names() {
    let directory = "thread-1/t0/t1";
    let names = |found| Fault::Names {
        found,
        expected: 10,
    };
    let missing = reported(Operation::List, |tree| {
        fs::remove_file(tree.join(FIRST)).unwrap();
    });
    assert_eq!(missing, (directory.to_owned(), names(9)));
    let more = reported(Operation::List, |tree| {
        fs::write(tree.join(directory).join("f99"), "").unwrap();
    });
    assert_eq!(more, (directory.to_owned(), names(11)));
    for name in ["f99", "x10", "f"] {
        let other = reported(Operation::List, |tree| {
            fs::rename(tree.join(FIRST), tree.join(directory).join(name)).unwrap();
        });
        assert_eq!(other, (directory.to_owned(), Fault::OtherNames));
    }
}

#[test]
fn files_of_another_run_are_an_error() {
    let path = tempdir().unwrap();
    for (operation, call) in [
        (Operation::CreateWrite, "openat"),
        (Operation::Mkdir, "mkdirat"),
    ] {
        let job = job(path.path(), &[operation]);
        run(&job, &mut |_| true).unwrap();
        match run(&job, &mut |_| true) {
            Err(Error::Path {
                fault: Fault::Io { call: found, errno },
                ..
            }) => {
                assert_eq!((found, errno.raw_os_error()), (call, 17));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_directory_without_its_parent_is_named() {
    let path = tempdir().unwrap();
    let gone = path.path().join("gone");
    match run(&job(&gone, &[Operation::CreateWrite]), &mut |_| true) {
        Err(Error::Path { path, .. }) => assert_eq!(path, gone.join("tree")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_stops_in_the_middle_of_a_phase() {
    let path = tempdir().unwrap();
    let endless = Job {
        files: 1 << 40,
        files_per_directory: 1 << 40,
        ..job(path.path(), &[Operation::CreateWrite])
    };
    let mut reported = 0;
    let stopped = run(&endless, &mut |done| {
        reported = done;
        done == 0
    });
    assert!(matches!(stopped, Err(Error::Stopped)));
    assert!(reported > 0);
}

#[test]
fn progress_counts_all_phases() {
    let path = tempdir().unwrap();
    let job = Job {
        files: 10_000,
        files_per_directory: 1000,
        ..job(
            path.path(),
            &[Operation::CreateWrite, Operation::Rename, Operation::Delete],
        )
    };
    let mut reported = vec![];
    run(&job, &mut |done| {
        reported.push(done);
        true
    })
    .unwrap();
    assert!(reported.is_sorted());
    assert!(
        reported
            .last()
            .is_some_and(|done| (20_000..=60_000).contains(done)),
        "{reported:?}"
    );
}

#[test]
fn invalid_jobs_are_refused() {
    use Operation::{CreateWrite, Delete, Mkdir, OpenRead, Rmdir, Stat};
    let of = |operations: &[Operation]| job(Path::new("x"), operations);
    let good = of(&[CreateWrite]);
    let zero = |name| InvalidJob::Zero { name };
    let cases = [
        (of(&[]), InvalidJob::NoOperations),
        (of(&[Stat, Stat]), InvalidJob::Twice { name: "stat" }),
        (
            Job {
                threads: 0,
                ..good.clone()
            },
            zero("threads"),
        ),
        (
            Job {
                files: 0,
                ..good.clone()
            },
            zero("files"),
        ),
        (
            Job {
                files_per_directory: 0,
                ..good.clone()
            },
            zero("files_per_directory"),
        ),
        (
            Job {
                depth: 0,
                ..good.clone()
            },
            zero("depth"),
        ),
        (
            Job {
                files: u64::MAX,
                ..good.clone()
            },
            InvalidJob::TooMany,
        ),
    ];
    for (job, invalid) in cases {
        assert_eq!(job.validate(), Err(invalid));
    }
    for operations in [[Delete, OpenRead], [Stat, CreateWrite], [Rmdir, Rmdir]] {
        assert!(of(&operations).validate().is_err(), "{operations:?}");
    }
    assert_eq!(of(&[Mkdir, Stat]).required_operations(), [CreateWrite]);
}

#[test]
fn the_longest_path_that_is_allowed_works_and_one_level_more_is_refused() {
    let path = tempdir().unwrap();
    let far = path.path().join(vec!["n".repeat(255); 15].join("/"));
    fs::create_dir_all(&far).unwrap();
    let deep = |depth| Job {
        depth,
        ..job(&far, &[Operation::CreateWrite, Operation::Delete])
    };
    let most = (1..4096).find(|depth| deep(depth + 1).validate().is_err());
    let most = most.unwrap();
    assert!(most > 10);
    run(&deep(most), &mut |_| true).unwrap();
    iostudy_metadata::remove_tree(&deep(most).directory).unwrap();
    let refused = deep(most + 1).validate();
    assert!(matches!(refused, Err(InvalidJob::PathTooLong { .. })));
}
