//! Tests of recovery after a file-system shutdown.
//!
//! kill -9 keeps unsynced data in the page cache. Here the file system shuts down without a flush,
//! so that only synced data survive. Directory syncs are not tested alone: on these file systems a
//! file sync includes its name.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use iostudy_namespace::{LogOptions, Namespace, SyncPolicy, recover};

use crate::child::{MAX_IN_FLIGHT, Serving};
use crate::history::{change, log, tree_after};
use crate::kill::Draw;
use crate::loop_disk::LoopDisk;

const KINDS: [&str; 2] = ["ext4", "xfs"];

#[test]
fn nothing_acknowledged_is_lost_by_a_file_system_that_stops() {
    for kind in KINDS {
        stop_repeatedly(kind, 3);
    }
}

#[test]
#[ignore = "takes minutes: make crash"]
fn nothing_acknowledged_is_lost_by_file_systems_that_stop_many_times() {
    for kind in KINDS {
        stop_repeatedly(kind, 25);
    }
}

fn stop_repeatedly(kind: &str, rounds: u32) {
    for sync in [SyncPolicy::Fdatasync, SyncPolicy::Dsync] {
        for preallocate in [0, 64 << 10] {
            let Some((disk, log)) = one(kind, sync) else {
                return;
            };
            let log = LogOptions { preallocate, ..log };
            stop_one(&disk, &log, rounds);
        }
    }
}

fn stop_one(disk: &LoopDisk, log: &LogOptions, rounds: u32) {
    let mut draw = Draw(0x5eed);
    let mut last = 0;
    for round in 0..rounds {
        let (acknowledged, most) = serve_until_it_stops(disk, log, last, 1 + draw.below(1500));
        let recovered = recover(&log.directories).unwrap();
        let round = format!("round {round} with {log:?}");
        let found = recovered.last;
        assert!(found >= acknowledged, "{found} < {acknowledged}, {round}");
        assert!(
            found <= most + 4 * MAX_IN_FLIGHT,
            "{found} > {most}, {round}"
        );
        assert_eq!(recovered.tree.digest(), tree_after(found).digest());
        last = found;
    }
}

/// Shut down the disk of a child after this many transactions. Return the last transaction printed
/// before the shutdown, and the last one at all.
///
/// Acknowledgements during the shutdown do not count: ext4 reports success for a sync in progress
/// and loses its data.
fn serve_until_it_stops(
    disk: &LoopDisk,
    log: &LogOptions,
    last: u64,
    transactions: u64,
) -> (u64, u64) {
    let mut serving = Serving::start(log, last);
    serving.wait_for(transactions);
    sleep(Duration::from_micros(transactions)); // not always directly after an acknowledgement
    let acknowledged = serving.acknowledged();
    disk.stop();
    let most = serving.end();
    disk.restart();
    (acknowledged, most)
}

/// The test above is effective: without a sync, acknowledged transactions are lost.
#[test]
fn without_a_sync_what_was_acknowledged_is_lost() {
    for kind in KINDS {
        let Some((disk, log)) = one(kind, SyncPolicy::None) else {
            return;
        };
        let namespace = Namespace::format(log.clone()).unwrap();
        for number in 1..=100 {
            assert_eq!(change(&namespace, number).unwrap(), number);
        }
        disk.stop();
        drop(namespace);
        disk.restart();
        let found = recover(&log.directories).map_or(0, |recovered| recovered.last);
        assert!(found < 100, "{found} on {kind}");
    }
}

/// A new segment exists with its header before the first write.
#[test]
fn a_new_segment_is_durable() {
    for kind in KINDS {
        let Some((disk, log)) = one(kind, SyncPolicy::None) else {
            return;
        };
        let namespace = Namespace::format(log.clone()).unwrap();
        disk.stop();
        drop(namespace);
        disk.restart();
        assert_eq!(names(&log.directories[0]), ["edits-inprogress-1"], "{kind}");
        let recovered = recover(&log.directories).unwrap();
        assert_eq!(recovered.last, 0, "{kind}");
        assert!(recovered.findings.is_empty(), "{}", recovered.findings);
    }
}

/// Closing makes a log and its names durable, also without batch syncs.
#[test]
fn a_closed_log_is_durable_under_its_name() {
    for kind in KINDS {
        for sync in [SyncPolicy::Fdatasync, SyncPolicy::None] {
            let Some((disk, log)) = one(kind, sync) else {
                return;
            };
            let namespace = Namespace::format(log.clone()).unwrap();
            assert_eq!(change(&namespace, 1).unwrap(), 1);
            namespace.checkpoint().unwrap();
            assert_eq!(change(&namespace, 2).unwrap(), 2);
            namespace.close().unwrap();
            disk.stop();
            disk.restart();
            let names = names(&log.directories[0]);
            assert_eq!(names, ["edits-1-1", "edits-2-2", "image-1"], "{kind}");
            assert_eq!(recover(&log.directories).unwrap().last, 2);
        }
    }
}

/// Disk and options for a new log on it.
fn one(kind: &str, sync: SyncPolicy) -> Option<(LoopDisk, LogOptions)> {
    let disk = LoopDisk::new(kind)?;
    let directories = vec![disk.point().join("log")];
    let log = LogOptions {
        sync,
        ..log(directories)
    };
    Some((disk, log))
}

fn names(directory: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort_unstable();
    names
}
