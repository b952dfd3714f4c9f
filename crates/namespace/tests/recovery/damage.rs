//! Tests of recovery from damaged logs.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use iostudy_namespace::{
    Damage, Defect, Error, Findings, LogOptions, Namespace, WaitTimes, recover,
};

use crate::history::{PATIENCE, append, change, log, tree_after};

const SEGMENT: &str = "edits-inprogress-1";
const HEADER: usize = 16;
const BATCH_HEAD: usize = 28;
const SECTOR: usize = 512;

/// A closed log in each directory, its segment still in progress: so many batches of so many.
fn written(folder: &Path, copies: usize, batches: u64, records: u32, least: usize) -> Vec<PathBuf> {
    let directories = (0..copies).map(|copy| folder.join(copy.to_string()));
    let log = LogOptions {
        preallocate: 1 << 12,
        record_bytes: least,
        batch_records: records,
        batch_wait: Some(PATIENCE),
        ..log(directories.collect())
    };
    let namespace = Namespace::format(log.clone()).unwrap();
    let mut wait_times = WaitTimes::default();
    for number in 1..=batches * u64::from(records) {
        append(&namespace, number, &mut wait_times);
        if number % u64::from(records) == 0 {
            namespace
                .wait_for(number, PATIENCE, &mut wait_times)
                .unwrap();
        }
    }
    assert_eq!(namespace.statistics().batches, batches);
    drop(namespace);
    log.directories
}

/// Where the parts of a segment lie, and the transaction that is lost with each of them first.
fn parts(bytes: &[u8], records: u64) -> Vec<(Range<usize>, u64)> {
    let mut parts = vec![(0..HEADER, 1)];
    let mut at = HEADER;
    for transaction in 1.. {
        if (transaction - 1) % records == 0 {
            if bytes[at] == 0 {
                break;
            }
            parts.push((at..at + BATCH_HEAD, transaction));
            at += BATCH_HEAD;
        }
        let length = u32::from_le_bytes(*bytes[at..].first_chunk().unwrap()) as usize;
        parts.push((at..at + length, transaction));
        at += length;
    }
    parts
}

fn changed(directory: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let file = directory.join(SEGMENT);
    let mut bytes = fs::read(&file).unwrap();
    change(&mut bytes);
    fs::write(file, bytes).unwrap();
}

fn at(directory: &Path, offset: usize, transaction: u64) -> Damage {
    Damage {
        path: directory.join(SEGMENT),
        offset: offset as u64,
        transaction,
    }
}

/// Recover up to `last`, with no finding except possibly a torn end.
fn is_torn(directories: &[PathBuf], last: u64, torn: &[Damage]) {
    let found = recover(directories).unwrap();
    assert_eq!(found.last, last);
    assert_eq!(found.tree.digest(), tree_after(last).digest());
    let expected = Findings {
        torn: torn.to_vec(),
        defects: vec![],
    };
    assert_eq!(found.findings, expected);
}

#[test]
fn a_log_cut_within_a_batch_ends_there_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let directories = written(folder.path(), 1, 5, 5, 0);
    let own = &directories[0];
    let whole = fs::read(own.join(SEGMENT)).unwrap();
    let parts = parts(&whole, 5);
    assert_eq!(parts.len(), 1 + 5 * 6);
    for (index, (part, first)) in parts.iter().enumerate() {
        for cut in part.clone() {
            fs::write(own.join(SEGMENT), &whole[..cut]).unwrap();
            let is_between_batches = cut == part.start && index % 6 == 1;
            let torn = (!is_between_batches).then(|| at(own, part.start, *first));
            is_torn(&directories, first - 1, torn.as_slice());
        }
    }
}

/// The last batch as well: no crash flips what it has written.
#[test]
fn any_byte_that_changes_is_refused_or_another_copy_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let directories = written(folder.path(), 2, 5, 5, 0);
    let own = &directories[0];
    let whole = fs::read(own.join(SEGMENT)).unwrap();
    for (part, transaction) in parts(&whole, 5) {
        for offset in part.clone() {
            for flip in [1, 0x80, whole[offset].max(1)] {
                changed(own, |bytes| bytes[offset] ^= flip);
                let damage = at(own, part.start, transaction);
                match recover(&directories[..1]) {
                    Err(Error::Damaged {
                        damage: message, ..
                    }) => assert_eq!(message, damage),
                    other => panic!("byte {offset} ^ {flip}: {other:?}"),
                }
                let both = recover(&directories).unwrap();
                assert_eq!(
                    (both.last, both.tree.digest()),
                    (25, tree_after(25).digest())
                );
                assert_eq!(both.findings.defects, [Defect::Segment(damage)]);
                assert_eq!(both.findings.torn, []);
                fs::write(own.join(SEGMENT), &whole).unwrap();
            }
        }
    }
}

/// Each copy repairs the damage of the other one, unless both are damaged at the same place.
#[test]
fn two_damaged_copies_repair_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let directories = written(folder.path(), 2, 3, 3, 0);
    let whole = fs::read(directories[0].join(SEGMENT)).unwrap();
    let parts = parts(&whole, 3);
    for (one, lost) in &parts[1..] {
        changed(&directories[0], |bytes| bytes[one.start + 5] ^= 4);
        for (other, other_lost) in &parts[1..] {
            changed(&directories[1], |bytes| bytes[other.start + 5] ^= 4);
            let found = recover(&directories);
            if lost == other_lost {
                let message = found.unwrap_err().to_string();
                assert!(
                    message.contains(&format!("transaction {lost}, at")),
                    "{message}"
                );
            } else {
                let found = found.unwrap();
                assert_eq!(found.tree.digest(), tree_after(9).digest());
                let defects = &found.findings.defects;
                let message = |own: usize, part: &Range<usize>, lost: &u64| {
                    defects.contains(&Defect::Segment(at(&directories[own], part.start, *lost)))
                };
                assert!(message(0, one, lost), "{}", found.findings);
                assert!(message(1, other, other_lost), "{}", found.findings);
            }
            fs::write(directories[1].join(SEGMENT), &whole).unwrap();
        }
        fs::write(directories[0].join(SEGMENT), &whole).unwrap();
    }
}

/// Also within padding, and in records that are longer than a sector.
#[test]
fn a_long_record_in_the_last_batch_that_changes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let directories = written(folder.path(), 1, 2, 2, 3 * SECTOR);
    let own = &directories[0];
    let whole = fs::read(own.join(SEGMENT)).unwrap();
    for (part, transaction) in parts(&whole, 2) {
        for offset in part.clone().step_by(7) {
            changed(own, |bytes| bytes[offset] ^= 0x10);
            let message = recover(&directories).unwrap_err();
            let expected = at(own, part.start, transaction);
            assert!(
                matches!(&message, Error::Damaged { damage, .. } if *damage == expected),
                "byte {offset}: {message}"
            );
            fs::write(own.join(SEGMENT), &whole).unwrap();
        }
    }
}

/// A crash leaves any sectors of the last batch as they were, and no others.
#[test]
fn a_last_batch_with_missing_sectors_ends_before_them_and_is_reported() {
    for least in [0, 700] {
        let folder = tempfile::tempdir().unwrap();
        let directories = written(folder.path(), 1, 2, if least == 0 { 40 } else { 4 }, least);
        let own = &directories[0];
        let whole = fs::read(own.join(SEGMENT)).unwrap();
        let records = if least == 0 { 40 } else { 4 };
        let parts = parts(&whole, records);
        let (begin, end) = (
            parts[2 + usize::try_from(records).unwrap()].0.start,
            parts.last().unwrap().0.end,
        );
        let sectors: Vec<_> = (begin / SECTOR..end.div_ceil(SECTOR)).collect();
        for lacking in 1..1_u32 << sectors.len() {
            changed(own, |bytes| {
                for (index, sector) in sectors.iter().enumerate() {
                    if lacking >> index & 1 == 1 {
                        bytes[begin.max(sector * SECTOR)..(sector + 1) * SECTOR].fill(0);
                    }
                }
            });
            let lost = sectors[lacking.trailing_zeros() as usize] * SECTOR;
            let first = parts
                .iter()
                .find(|(part, _)| part.end > lost && part.start >= begin);
            let (part, transaction) = first.unwrap();
            let all = lacking.count_ones() as usize == sectors.len();
            let torn = (!all).then(|| at(own, part.start, *transaction));
            is_torn(&directories, transaction - 1, torn.as_slice());
            fs::write(own.join(SEGMENT), &whole).unwrap();
        }
    }
}

#[test]
fn an_earlier_batch_without_a_sector_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let directories = written(folder.path(), 1, 3, 40, 0);
    let own = &directories[0];
    let whole = fs::read(own.join(SEGMENT)).unwrap();
    let parts = parts(&whole, 40);
    let last = parts[1 + 2 * 41].0.start;
    for lost in (0..last).step_by(SECTOR) {
        changed(own, |bytes| bytes[lost..lost + SECTOR].fill(0));
        let (part, transaction) = parts.iter().find(|(part, _)| part.end > lost).unwrap();
        let message = recover(&directories).unwrap_err();
        let expected = at(own, part.start, *transaction);
        assert!(
            matches!(&message, Error::Damaged { damage, .. } if *damage == expected),
            "sector at {lost}: {message}"
        );
        fs::write(own.join(SEGMENT), &whole).unwrap();
    }
}

#[test]
fn a_closed_log_that_is_cut_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("log");
    let namespace = Namespace::format(log(vec![directory.clone()])).unwrap();
    change(&namespace, 1).unwrap();
    change(&namespace, 2).unwrap();
    namespace.close().unwrap();
    let file = directory.join("edits-1-2");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    let message = recover(&[directory]).unwrap_err();
    assert!(
        matches!(&message, Error::Damaged { damage, .. } if damage.transaction == 2),
        "{message}"
    );
}

/// Damaged files are set aside; intact ones are replaced by an image.
#[test]
fn opening_a_torn_log_reports_it_and_sets_it_aside() {
    let folder = tempfile::tempdir().unwrap();
    let directories = written(folder.path(), 2, 2, 5, 0);
    let mut cut = vec![];
    for own in &directories {
        changed(own, |bytes| {
            let (last, _) = parts(bytes, 5).pop().unwrap();
            bytes.truncate(last.start + 3);
            cut.clone_from(bytes);
        });
    }
    let (namespace, findings) = Namespace::open(log(directories.clone())).unwrap();
    let torn: Vec<_> = findings
        .torn
        .iter()
        .map(|damage| damage.transaction)
        .collect();
    assert_eq!(torn, [10, 10]);
    assert_eq!(findings.defects, []);
    assert_eq!(change(&namespace, 10).unwrap(), 10);
    namespace.close().unwrap();
    for own in &directories {
        assert_eq!(
            names(own),
            ["edits-10-10", "image-9", "set-aside-1-edits-inprogress-1"]
        );
        let aside = fs::read(own.join("set-aside-1-edits-inprogress-1")).unwrap();
        assert_eq!(aside, cut);
    }
    is_torn(&directories, 10, &[]);
}

/// One segment has repaired damage and an early end.
#[test]
fn a_segment_with_two_kinds_of_damage_is_set_aside_once() {
    let folder = tempfile::tempdir().unwrap();
    let directories = written(folder.path(), 2, 2, 5, 0);
    for (own, ends_in) in directories.iter().zip([10, 8]) {
        changed(own, |bytes| {
            let parts = parts(bytes, 5);
            let (last, _) = parts.iter().rfind(|(_, id)| *id == ends_in).unwrap();
            bytes.truncate(last.start + 3);
        });
    }
    changed(&directories[0], |bytes| bytes[HEADER + BATCH_HEAD + 9] ^= 1);
    let (namespace, findings) = Namespace::open(log(directories.clone())).unwrap();
    let own = directories[0].join(SEGMENT);
    let [torn] = &*findings.torn else {
        panic!("{findings}");
    };
    assert_eq!((&torn.path, torn.transaction), (&own, 10));
    let lost = Defect::Segment(at(&directories[0], HEADER + BATCH_HEAD, 1));
    assert!(findings.defects.contains(&lost), "{findings}");
    assert!(!own.exists());
    assert_eq!(
        namespace.close().unwrap().0.digest(),
        tree_after(9).digest()
    );
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names
}
