//! Tests of truncation.

use std::fs::{metadata, write};
use std::path::{Path, PathBuf};

use iostudy_engine::{Error, Fault, InvalidJob, SyncCall, Truncation, truncate};
use rustix::io::Errno;

fn in_folder(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| folder.join(name)).collect()
}

#[test]
fn every_file_has_the_requested_size_and_keeps_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), &["a", "b", "c"]);
    for path in &paths {
        write(path, b"0123456789").unwrap();
    }
    let job = Truncation {
        paths: paths.clone(),
        bytes: 4,
        sync: Some(SyncCall::Fsync),
    };
    let result = truncate(&job, &mut |_| true).unwrap();
    for path in &paths {
        assert_eq!(std::fs::read(path).unwrap(), b"0123");
    }
    assert_eq!(result.threads.len(), 3);
    assert_eq!(result.write.latencies.len(), 3);
    assert_eq!((result.sync.len(), result.moved_bytes), (3, 0));
    let phases = result.phases[0];
    let sum = phases.open + phases.records + phases.sync + phases.close;
    assert_eq!(sum, result.threads[0]);
}

#[test]
fn a_missing_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let paths = in_folder(folder.path(), &["there", "missing"]);
    write(&paths[0], b"0123456789").unwrap();
    let job = Truncation {
        paths: paths.clone(),
        bytes: 4,
        sync: None,
    };
    match truncate(&job, &mut |_| true).unwrap_err() {
        Error::File {
            path,
            fault: Fault::Io { call, errno, .. },
        } => assert_eq!(
            (path, call, errno),
            (paths[1].clone(), "open", Errno::NOENT)
        ),
        other => panic!("{other}"),
    }
    assert!(metadata(&paths[1]).is_err());
}

#[test]
fn no_files_are_refused() {
    let job = Truncation {
        paths: Vec::new(),
        bytes: 4,
        sync: None,
    };
    assert_eq!(job.validate(), Err(InvalidJob::NoPaths));
}
