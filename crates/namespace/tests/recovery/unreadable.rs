//! Tests of recovery with unreadable files.

use std::fs;
use std::path::{Path, PathBuf};

use iostudy_namespace::{Defect, Error, Namespace, recover};

use crate::history::{change, log, tree_after};

/// In each of two directories: an image of `1..=4` with its segments, and a segment in progress
/// from 5 to 6.
fn written(folder: &Path) -> [PathBuf; 2] {
    let directories = [0, 1].map(|copy| folder.join(copy.to_string()));
    let namespace = Namespace::format(log(directories.to_vec())).unwrap();
    for number in 1..=6 {
        assert_eq!(change(&namespace, number).unwrap(), number);
        if number % 2 == 0 && number < 6 {
            namespace.checkpoint().unwrap();
        }
    }
    drop(namespace);
    directories
}

/// Make a file unreadable, also for root.
fn make_unreadable(file: &Path) {
    fs::remove_file(file).unwrap();
    fs::create_dir(file).unwrap();
}

fn flip(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    bytes[20] ^= 1;
    fs::write(file, bytes).unwrap();
}

/// Recovery succeeds with one defect, at this path.
fn is_whole(directories: &[PathBuf], defect: &Path) -> Defect {
    let found = recover(directories).unwrap();
    assert_eq!(
        (found.last, found.tree.digest()),
        (6, tree_after(6).digest())
    );
    assert_eq!(found.findings.torn, []);
    let [message] = &*found.findings.defects else {
        panic!("{}", found.findings);
    };
    assert_eq!(message.path(), defect);
    message.clone()
}

#[test]
fn an_unreadable_file_is_reported_and_replaced_by_the_other_copy() {
    for name in ["", "edits-inprogress-5", "image-4"] {
        let folder = tempfile::tempdir().unwrap();
        let directories = written(folder.path());
        let path = directories[0].join(name);
        if name.is_empty() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            make_unreadable(&path);
        }
        let path = directories[0].join(name);
        let message = is_whole(&directories, &path);
        assert!(matches!(message, Defect::Unreadable(_)), "{message}");
    }
}

#[test]
fn an_unreadable_file_without_another_copy_is_an_error() {
    for (name, transaction) in [("", 1), ("edits-inprogress-5", 5)] {
        let folder = tempfile::tempdir().unwrap();
        let own = &written(folder.path())[..1];
        if name.is_empty() {
            fs::remove_dir_all(&own[0]).unwrap();
        } else {
            make_unreadable(&own[0].join(name));
        }
        let message = recover(own).unwrap_err().to_string();
        let path = format!("{}/{name}", own[0].display());
        assert!(message.contains(path.trim_end_matches('/')), "{message}");
        let expected = format!("transaction {transaction} may lie there");
        assert!(message.contains(&expected), "{message}");
        assert!(
            message.contains("give the directory of an intact copy"),
            "{message}"
        );
    }
}

/// An empty directory is not a copy: its disk may be unmounted.
#[test]
fn an_unreadable_and_an_empty_directory_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let message = recover(&[folder.path().to_owned(), gone]).unwrap_err();
    assert!(matches!(message, Error::Unreadable { .. }), "{message}");
}

#[test]
fn a_damaged_image_is_reported_and_an_older_one_used() {
    let folder = tempfile::tempdir().unwrap();
    let directories = &written(folder.path())[..1];
    let image = directories[0].join("image-4");
    flip(&image);
    assert_eq!(is_whole(directories, &image), Defect::Image(image.clone()));
    let (namespace, findings) = Namespace::open(log(directories.to_vec())).unwrap();
    assert_eq!(findings.defects, [Defect::Image(image.clone())]);
    assert!(!image.exists());
    assert!(directories[0].join("set-aside-1-image-4").exists());
    assert_eq!(
        namespace.close().unwrap().0.digest(),
        tree_after(6).digest()
    );
}

#[test]
fn without_another_image_the_damaged_one_is_named_as_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let directories = &written(folder.path())[..1];
    let image = directories[0].join("image-4");
    flip(&image);
    fs::remove_file(directories[0].join("image-2")).unwrap();
    fs::remove_file(directories[0].join("edits-3-4")).unwrap();
    for has_empty_directory in [true, false] {
        let message = recover(directories).unwrap_err().to_string();
        assert!(message.contains("transaction 1 is missing"), "{message}");
        assert!(
            message.contains("image-4: the image is damaged"),
            "{message}"
        );
        if has_empty_directory {
            fs::remove_file(directories[0].join("edits-inprogress-5")).unwrap();
        }
    }
}

/// The damaged image has the name of the image that opening the log writes.
#[test]
fn a_damaged_image_is_set_aside_before_another_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let directories = &written(folder.path())[..1];
    fs::remove_file(directories[0].join("edits-inprogress-5")).unwrap();
    flip(&directories[0].join("image-4"));
    let damaged = fs::read(directories[0].join("image-4")).unwrap();
    let (namespace, _) = Namespace::open(log(directories.to_vec())).unwrap();
    assert_eq!(change(&namespace, 5).unwrap(), 5);
    drop(namespace);
    let aside = fs::read(directories[0].join("set-aside-1-image-4")).unwrap();
    assert_eq!(aside, damaged);
    assert_eq!(recover(directories).unwrap().last, 5);
}
