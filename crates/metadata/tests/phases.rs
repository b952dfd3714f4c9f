//! Tests of the files and measurements of phases.

mod common;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use common::{job, paths};
use iostudy_metadata::{Job, Operation, SyncPolicy, remove_tree, run};
use proptest::prelude::*;
use tempfile::tempdir;

#[test]
fn every_phase_does_each_file_once_and_leaves_nothing_but_the_tree() {
    let path = tempdir().unwrap();
    let job = job(
        path.path(),
        &[
            Operation::CreateWrite,
            Operation::Stat,
            Operation::Mkdir,
            Operation::List,
            Operation::Rename,
            Operation::OpenRead,
            Operation::Rmdir,
            Operation::Delete,
        ],
    );
    let phases = run(&job, &mut |_| true).unwrap();
    let done: Vec<_> = phases.iter().map(|phase| phase.operation).collect();
    assert_eq!(done, job.operations);
    for phase in phases {
        let directories = phase.operation == Operation::List;
        let expected = if directories { 2 * 3 } else { 2 * 25 };
        assert_eq!(phase.latencies.len(), expected, "{:?}", phase.operation);
        assert!(phase.wall > Duration::ZERO);
        assert!(phase.latencies.max() <= u64::try_from(phase.wall.as_nanos()).unwrap() * 101 / 100);
    }
    assert!(paths(path.path()).iter().all(|path| path.ends_with('/')));
}

#[test]
fn files_have_their_size_and_no_two_the_same_content() {
    let path = tempdir().unwrap();
    for shared in [false, true] {
        let job = Job {
            shared,
            ..job(path.path(), &[Operation::CreateWrite])
        };
        run(&job, &mut |_| true).unwrap();
        let files = paths(&job.directory).into_iter();
        let contents: BTreeSet<_> = files
            .filter(|path| !path.ends_with('/'))
            .map(|path| std::fs::read(job.directory.join(path)).unwrap())
            .collect();
        assert_eq!(contents.len(), 50);
        assert!(contents.iter().all(|content| content.len() == 100));
        remove_tree(&job.directory).unwrap();
    }
}

#[test]
fn every_sync_mode_makes_the_same_tree() {
    let path = tempdir().unwrap();
    for sync in [
        SyncPolicy::None,
        SyncPolicy::File,
        SyncPolicy::Directory,
        SyncPolicy::Phase,
    ] {
        let job = Job {
            sync,
            ..job(
                path.path(),
                &[Operation::CreateWrite, Operation::Rename, Operation::Delete],
            )
        };
        assert_eq!(run(&job, &mut |_| true).unwrap().len(), 3);
    }
}

#[test]
fn a_job_continues_with_the_files_of_another() {
    let path = tempdir().unwrap();
    let reading = job(
        path.path(),
        &[Operation::List, Operation::OpenRead, Operation::Rmdir],
    );
    let required_operations = reading.required_operations();
    assert_eq!(
        required_operations,
        [Operation::CreateWrite, Operation::Mkdir]
    );
    run(&job(path.path(), &required_operations), &mut |_| true).unwrap();
    assert_eq!(run(&reading, &mut |_| true).unwrap().len(), 3);
}

#[test]
fn empty_files_are_read_and_verified_too() {
    let path = tempdir().unwrap();
    let job = Job {
        bytes_to_write: 0,
        ..job(path.path(), &[Operation::CreateWrite, Operation::OpenRead])
    };
    assert_eq!(run(&job, &mut |_| true).unwrap().len(), 2);
}

#[test]
fn removing_deletes_everything_and_ignores_missing_entries() {
    let path = tempdir().unwrap();
    let job = job(path.path(), &[Operation::CreateWrite, Operation::Mkdir]);
    run(&job, &mut |_| true).unwrap();
    let outside = path.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, job.directory.join("link")).unwrap();
    remove_tree(&job.directory).unwrap();
    assert_eq!(paths(path.path()), BTreeSet::from(["outside/".to_owned()]));
    remove_tree(&job.directory).unwrap();
}

#[test]
fn a_link_in_the_place_of_a_tree_is_not_followed() {
    let path = tempdir().unwrap();
    std::fs::write(path.path().join("precious"), "data").unwrap();
    let elsewhere = tempdir().unwrap();
    let link = elsewhere.path().join("tree");
    std::os::unix::fs::symlink(path.path(), &link).unwrap();
    remove_tree(&link).unwrap_err();
    assert!(path.path().join("precious").exists());
}

/// The names by the documentation, made with formats and a division at a time.
fn expected(job: &Job, letter: char) -> BTreeSet<String> {
    let stride = if job.shared { job.threads as u64 } else { 1 };
    let items = job.files * stride;
    let leaves = items.div_ceil(job.files_per_directory);
    let width = (1..=leaves)
        .find(|width| width.pow(job.depth) >= leaves)
        .unwrap();
    let trees = if job.shared {
        vec!["shared".to_owned()]
    } else {
        (0..job.threads)
            .map(|thread| format!("thread-{thread}"))
            .collect()
    };
    let mut names = BTreeSet::new();
    for tree in trees {
        names.insert(format!("{tree}/"));
        for item in 0..items {
            let leaf = item / job.files_per_directory;
            let mut path = format!("{tree}/");
            for level in (0..job.depth).rev() {
                write!(path, "t{}/", leaf / width.pow(level) % width).unwrap();
                names.insert(path.clone());
            }
            names.insert(format!("{path}{letter}{item}"));
        }
    }
    names
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_tree_holds_exactly_the_expected_names(
        threads in 1..4_usize,
        files in 1..40_u64,
        files_per_directory in 1..50_u64,
        depth in 1..5_u32,
        shared: bool,
        rename: bool,
    ) {
        let path = tempdir().unwrap();
        let mut operations = vec![Operation::CreateWrite];
        operations.extend(rename.then_some(Operation::Rename));
        operations.extend([Operation::List, Operation::Stat]);
        let job = Job { threads, files, files_per_directory, depth, shared, ..job(path.path(), &operations) };
        run(&job, &mut |_| true).unwrap();
        let letter = if rename { 'r' } else { 'f' };
        prop_assert_eq!(paths(&job.directory), expected(&job, letter));
        remove_tree(&job.directory).unwrap();
        prop_assert!(!job.directory.exists());
    }
}
