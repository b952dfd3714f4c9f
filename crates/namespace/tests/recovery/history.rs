//! Deterministic mutations and the trees that they make.

use std::path::PathBuf;
use std::time::Duration;

use iostudy_namespace::{
    Error, LogOptions, Mutation, Namespace, SyncPolicy, Tree, WaitTimes, WriteOrder,
};

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn log(directories: Vec<PathBuf>) -> LogOptions {
    LogOptions {
        directories,
        order: WriteOrder::Parallel,
        sync: SyncPolicy::Fdatasync,
        preallocate: 1 << 16,
        record_bytes: 0,
        batch_records: 0,
        batch_wait: None,
    }
}

/// Mutation of transaction `number`, from 4 on; each is possible after its predecessors.
fn mutation<'a>(number: u64, path: &'a mut String, name: &'a mut String) -> Mutation<'a> {
    let file = if number % 4 < 2 { number } else { number - 2 };
    *path = format!("/f{file}");
    *name = format!("r{file}");
    match number % 4 {
        0 | 1 => Mutation::Create {
            path,
            at_ms: number,
        },
        2 => Mutation::Rename {
            path,
            name,
            at_ms: number,
        },
        _ => Mutation::Delete { path },
    }
}

/// Append the transaction without waiting for it.
pub(crate) fn append(namespace: &Namespace, number: u64, wait_times: &mut WaitTimes) {
    let (mut path, mut name) = (String::new(), String::new());
    let mutation = mutation(number + 3, &mut path, &mut name);
    assert_eq!(namespace.change(&mutation, wait_times).unwrap(), number);
}

/// Append the transaction and wait for its acknowledgement.
pub(crate) fn change(namespace: &Namespace, number: u64) -> Result<u64, Error> {
    let mut wait_times = WaitTimes::default();
    append(namespace, number, &mut wait_times);
    namespace.wait_for(number, PATIENCE, &mut wait_times)
}

/// The tree after the transactions `1..=last`.
pub(crate) fn tree_after(last: u64) -> Tree {
    let mut tree = Tree::default();
    for number in 1..=last {
        let (mut path, mut name) = (String::new(), String::new());
        tree.apply(&mutation(number + 3, &mut path, &mut name))
            .unwrap();
    }
    tree
}
