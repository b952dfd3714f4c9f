//! A file system that stops, and with it all that was in memory alone.
//!
//! kill -9 leaves what was written to the system, synced or not. Here the file system is shut down
//! without flushing anything, so that what was acknowledged is there again only if it was on the
//! disk by then. Only what a directory has synced is not told apart: on these file systems the sync
//! of a file brings its name along.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use iostudy_namespace::{Log, Namespace, Sync, recover};

use crate::child::{AT_ONCE, Serving};
use crate::history::{change, log, tree_after};
use crate::kill::Draw;
use crate::loop_disk::LoopDisk;

const KINDS: [&str; 2] = ["ext4", "xfs"];

#[test]
fn nothing_acknowledged_is_lost_by_a_file_system_that_stops() {
    for kind in KINDS {
        stop_again_and_again(kind, 3);
    }
}

#[test]
#[ignore = "takes minutes: make crash"]
fn nothing_acknowledged_is_lost_by_file_systems_that_stop_many_times() {
    for kind in KINDS {
        stop_again_and_again(kind, 25);
    }
}

fn stop_again_and_again(kind: &str, rounds: u32) {
    for sync in [Sync::Fdatasync, Sync::Dsync] {
        for preallocate in [0, 64 << 10] {
            let Some((disk, log)) = one(kind, sync) else {
                return;
            };
            let log = Log { preallocate, ..log };
            stop_one(&disk, &log, rounds);
        }
    }
}

fn stop_one(disk: &LoopDisk, log: &Log, rounds: u32) {
    let mut draw = Draw(0x5eed);
    let mut last = 0;
    for round in 0..rounds {
        let (told, most) = serve_until_it_stops(disk, log, last, 1 + draw.below(1500));
        let recovered = recover(&log.directories).unwrap();
        let round = format!("round {round} with {log:?}");
        let found = recovered.last;
        assert!(found >= told, "{found} < {told}, {round}");
        assert!(found <= most + 4 * AT_ONCE, "{found} > {most}, {round}");
        assert_eq!(recovered.tree.digest(), tree_after(found).digest());
        last = found;
    }
}

/// Stop the disk of a child that has told so many; the last transaction that it told before, and
/// the last that it told at all.
///
/// After a loss of power nobody could tell any more. What this kernel answers while it stops a file
/// system does not count: ext4 says that a sync under way has succeeded, and loses its data.
fn serve_until_it_stops(disk: &LoopDisk, log: &Log, last: u64, transactions: u64) -> (u64, u64) {
    let mut serving = Serving::start(log, last);
    serving.wait_for(transactions);
    sleep(Duration::from_micros(transactions)); // not always right after it has told
    let told = serving.told();
    disk.stop();
    let most = serving.end();
    disk.start_again();
    (told, most)
}

/// The test above can tell: without a sync, what was acknowledged is lost.
#[test]
fn without_a_sync_what_was_acknowledged_is_lost() {
    for kind in KINDS {
        let Some((disk, log)) = one(kind, Sync::None) else {
            return;
        };
        let namespace = Namespace::format(log.clone()).unwrap();
        for number in 1..=100 {
            assert_eq!(change(&namespace, number).unwrap(), number);
        }
        disk.stop();
        drop(namespace);
        disk.start_again();
        let found = recover(&log.directories).map_or(0, |recovered| recovered.last);
        assert!(found < 100, "{found} on {kind}");
    }
}

/// A segment is there, and begins as it should, before anything is written to it.
#[test]
fn what_was_begun_is_there() {
    for kind in KINDS {
        let Some((disk, log)) = one(kind, Sync::None) else {
            return;
        };
        let namespace = Namespace::format(log.clone()).unwrap();
        disk.stop();
        drop(namespace);
        disk.start_again();
        assert_eq!(names(&log.directories[0]), ["edits-inprogress-1"], "{kind}");
        let recovered = recover(&log.directories).unwrap();
        assert_eq!(recovered.last, 0, "{kind}");
        assert!(recovered.findings.is_empty(), "{}", recovered.findings);
    }
}

/// Closing makes a log durable, and its names, also where batches are not synced.
#[test]
fn what_was_closed_is_there_under_its_name() {
    for kind in KINDS {
        for sync in [Sync::Fdatasync, Sync::None] {
            let Some((disk, log)) = one(kind, sync) else {
                return;
            };
            let namespace = Namespace::format(log.clone()).unwrap();
            assert_eq!(change(&namespace, 1).unwrap(), 1);
            namespace.checkpoint().unwrap();
            assert_eq!(change(&namespace, 2).unwrap(), 2);
            namespace.close().unwrap();
            disk.stop();
            disk.start_again();
            let names = names(&log.directories[0]);
            assert_eq!(names, ["edits-1-1", "edits-2-2", "image-1"], "{kind}");
            assert_eq!(recover(&log.directories).unwrap().last, 2);
        }
    }
}

/// A disk, and a log on it that is not there yet.
fn one(kind: &str, sync: Sync) -> Option<(LoopDisk, Log)> {
    let disk = LoopDisk::new(kind)?;
    let directories = vec![disk.point().join("log")];
    let log = Log {
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
