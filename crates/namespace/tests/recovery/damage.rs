//! Whatever byte of the log is lost.

use std::fs;
use std::path::{Path, PathBuf};

use iostudy_namespace::{Error, Namespace, Waits, recover};
use proptest::prelude::*;

use crate::history::{PATIENCE, append, log, tree_after};

/// A closed log of some batches in each directory, its segment still in progress.
fn written(folder: &Path, copies: usize, transactions: u64) -> Vec<PathBuf> {
    let directories: Vec<_> = (0..copies)
        .map(|copy| folder.join(copy.to_string()))
        .collect();
    let namespace = Namespace::format(log(directories.clone())).unwrap();
    let mut waits = Waits::default();
    for number in 1..=transactions {
        append(&namespace, number, &mut waits);
        if number % 5 == 0 || number == transactions {
            namespace.wait_for(number, PATIENCE, &mut waits).unwrap();
        }
    }
    drop(namespace);
    directories
}

fn only_file(directory: &Path) -> PathBuf {
    let mut files = fs::read_dir(directory).unwrap();
    files.next().unwrap().unwrap().path()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_log_that_was_cut_anywhere_tells_a_beginning_of_what_was_done(at: prop::sample::Index) {
        let folder = tempfile::tempdir().unwrap();
        let directories = written(folder.path(), 1, 23);
        let file = only_file(&directories[0]);
        let bytes = fs::read(&file).unwrap();
        let used = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
        fs::write(&file, &bytes[..at.index(used)]).unwrap();
        match recover(&directories) {
            Ok(found) => {
                prop_assert!(found.last < 23);
                prop_assert_eq!(found.tree.digest(), tree_after(found.last).digest());
                let named = found.torn.iter().all(|damage| damage.transaction == found.last + 1);
                prop_assert!(named);
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn any_byte_that_changes_is_named_or_another_copy_has_it(at: prop::sample::Index, flip in 1..=255u8) {
        let folder = tempfile::tempdir().unwrap();
        let directories = written(folder.path(), 2, 23);
        let file = only_file(&directories[0]);
        let mut bytes = fs::read(&file).unwrap();
        let used = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
        bytes[at.index(used)] ^= flip;
        fs::write(&file, &bytes).unwrap();
        let both = recover(&directories).unwrap();
        prop_assert_eq!((both.last, both.tree.digest()), (23, tree_after(23).digest()));
        match recover(&directories[..1]) {
            Err(Error::Damaged(damage)) => prop_assert!((1..=23).contains(&damage.transaction)),
            Ok(found) => {
                prop_assert_eq!(found.tree.digest(), tree_after(found.last).digest());
                prop_assert_eq!(found.torn.len(), 1);
                prop_assert_eq!(found.torn[0].transaction, found.last + 1);
                prop_assert!(found.last >= 18, "an older batch was lost without an error");
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
