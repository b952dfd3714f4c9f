//! Tests of failing log directories.

use std::fs;

use iostudy_namespace::{Error, Namespace, recover};

use crate::history::{change, log};

/// An obstacle at the path of the next segment makes a checkpoint fail.
#[test]
fn after_a_checkpoint_that_failed_nothing_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("log");
    let namespace = Namespace::format(log(vec![directory.clone()])).unwrap();
    let change = |number| change(&namespace, number);
    assert_eq!(change(1).unwrap(), 1);
    fs::write(directory.join("edits-inprogress-2"), "").unwrap();
    let message = namespace.checkpoint().unwrap_err().to_string();
    assert!(message.contains("edits-inprogress-2"), "{message}");
    let message = change(2).unwrap_err().to_string();
    assert!(message.contains("edits-inprogress-2"), "{message}");
    assert_eq!(namespace.failed_logs()[0].transaction, 2);
    fs::remove_file(directory.join("edits-inprogress-2")).unwrap();
    assert_eq!(recover(&[directory]).unwrap().last, 1);
}

/// Where a checkpoint cannot begin a segment, write an image, or end a segment, the copy is dropped.
#[test]
fn a_checkpoint_continues_in_the_remaining_directory() {
    for in_the_way in ["edits-inprogress-2", "image-1"] {
        let folder = tempfile::tempdir().unwrap();
        let directories = [0, 1].map(|copy| folder.path().join(copy.to_string()));
        let namespace = Namespace::format(log(directories.to_vec())).unwrap();
        let change = |number| change(&namespace, number);
        assert_eq!(change(1).unwrap(), 1);
        fs::create_dir(directories[0].join(in_the_way)).unwrap();
        namespace.checkpoint().unwrap();
        assert_eq!(change(2).unwrap(), 2);
        namespace.checkpoint().unwrap();
        assert_eq!(change(3).unwrap(), 3);
        let failed_logs = namespace.failed_logs();
        assert_eq!(failed_logs.len(), 1, "{failed_logs:?}");
        assert_eq!(failed_logs[0].directory, directories[0]);
        assert_eq!(failed_logs[0].transaction, 2);
        let (tree, at_the_end) = namespace.close().unwrap();
        assert_eq!(at_the_end, failed_logs);
        let obstacle = directories[0].join(in_the_way);
        fs::remove_dir(obstacle).unwrap();
        for found in [&directories[1..], &directories] {
            let recovered = recover(found).unwrap();
            assert_eq!(recovered.last, 3);
            assert_eq!(recovered.tree.digest(), tree.digest());
        }
    }
}

/// A copy that a checkpoint dropped does not count when the other one fails.
#[test]
fn after_the_last_of_two_directories_nothing_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let directories = [0, 1].map(|copy| folder.path().join(copy.to_string()));
    let namespace = Namespace::format(log(directories.to_vec())).unwrap();
    assert_eq!(change(&namespace, 1).unwrap(), 1);
    fs::create_dir(directories[0].join("image-1")).unwrap();
    namespace.checkpoint().unwrap();
    fs::remove_dir_all(&directories[1]).unwrap();
    assert!(matches!(
        namespace.checkpoint(),
        Err(Error::AllLogsFailed(_))
    ));
    assert!(change(&namespace, 2).is_err());
    assert_eq!(namespace.failed_logs().len(), 2);
    assert!(matches!(namespace.close(), Err(Error::AllLogsFailed(_))));
}

#[test]
fn a_copy_with_an_error_at_the_end_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let directories = [0, 1].map(|copy| folder.path().join(copy.to_string()));
    let namespace = Namespace::format(log(directories.to_vec())).unwrap();
    fs::remove_dir_all(&directories[0]).unwrap();
    let (_, failed_logs) = namespace.close().unwrap();
    assert_eq!(failed_logs.len(), 1);
    assert_eq!(failed_logs[0].directory, directories[0]);
}
