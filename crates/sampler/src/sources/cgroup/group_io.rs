//! I/O of a group: io.stat of version 2, blkio.throttle.* of version 1.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::group::{Group, Version};
use crate::columns::Columns;
use crate::columns::Source;

/// Version 2 has a line per device: `8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0`.
const V2: &str = "io.stat";
const V2_KEYS: [(&str, &str); 4] = [
    ("rbytes", "read_bytes"),
    ("wbytes", "written_bytes"),
    ("rios", "reads"),
    ("wios", "writes"),
];
/// Version 1 has files for bytes and requests, with a line per device and operation: `8:0 Read 1`.
const V1: [(&str, [(&str, &str); 2]); 2] = [
    (
        "blkio.throttle.io_service_bytes",
        [("Read", "read_bytes"), ("Write", "written_bytes")],
    ),
    (
        "blkio.throttle.io_serviced",
        [("Read", "reads"), ("Write", "writes")],
    ),
];
/// File name suffixes: version 1 has recursive files since 4.4, version 2 is always recursive.
pub(super) const OWN_FILES: &[&str] = &[""];
const RECURSIVE_FILES: &[&str] = &["_recursive", ""];

/// Bytes and requests, by device and counter.
pub(super) type Counters = BTreeMap<(String, &'static str), u64>;

/// `cgroup.MAJOR:MINOR.COUNTER`, in bytes and requests.
pub(super) struct GroupIo(Group);

impl GroupIo {
    pub(super) fn open(process: u32) -> Option<Self> {
        Group::of(process, "blkio").map(Self)
    }
}

impl Source for GroupIo {
    fn sample(&mut self, columns: &mut Columns) {
        let found = counters(&self.0.own, self.0.version, RECURSIVE_FILES);
        for ((device, counter), value) in found.unwrap_or_default() {
            super::put(columns, &device, counter, value);
        }
    }
}

/// I/O counters of a group, in version 1 from the first existing files with one of these `endings`;
/// `None` without such files. Unused devices are missing.
pub(super) fn counters(group: &Path, version: Version, endings: &[&str]) -> Option<Counters> {
    let mut counters = Counters::new();
    let mut take = |device: &str, counter: &'static str, value: u64| {
        counters.insert((device.to_owned(), counter), value);
    };
    match version {
        Version::V2 => parse_v2(&fs::read_to_string(group.join(V2)).ok()?, take),
        Version::V1 => {
            for (file, operations) in &V1 {
                let read =
                    |ending: &&str| fs::read_to_string(group.join(format!("{file}{ending}")));
                let text = endings.iter().find_map(|ending| read(ending).ok())?;
                parse_v1(&text, operations, &mut take);
            }
        }
    }
    Some(counters)
}

fn parse_v2(text: &str, mut take: impl FnMut(&str, &'static str, u64)) {
    for line in text.lines() {
        let mut fields = line.split(' ');
        let device = fields.next().unwrap_or_default();
        for (key, value) in fields.filter_map(|field| field.split_once('=')) {
            let counter = V2_KEYS.iter().find(|(own, _)| *own == key);
            if let (Some((_, counter)), Ok(value)) = (counter, value.parse()) {
                take(device, counter, value);
            }
        }
    }
}

fn parse_v1(
    text: &str,
    operations: &[(&str, &'static str)],
    mut take: impl FnMut(&str, &'static str, u64),
) {
    for line in text.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let &[device, operation, value] = &fields[..] else {
            continue;
        };
        let counter = operations.iter().find(|(own, _)| *own == operation);
        if let (Some((_, counter)), Ok(value)) = (counter, value.parse()) {
            take(device, counter, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Found = Vec<(String, String, u64)>;

    fn v2(text: &str) -> Found {
        let mut found = Vec::new();
        parse_v2(text, |device, counter, value| {
            found.push((device.to_owned(), counter.to_owned(), value));
        });
        found
    }

    fn v1(text: &str) -> Found {
        let mut found = Vec::new();
        parse_v1(text, &V1[0].1, |device, counter, value| {
            found.push((device.to_owned(), counter.to_owned(), value));
        });
        found
    }

    #[test]
    fn what_kernels_show_is_read() {
        let text = "8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n\
            8:0 cost.usage=123\n253:0 \n";
        let found = v2(text);
        assert_eq!(found.len(), 4);
        assert_eq!(
            found[1],
            ("8:16".into(), "written_bytes".into(), 314_773_504)
        );
        let text = "8:0 Read 4096\n8:0 Write 8192\n8:0 Sync 12288\n8:0 Total 12288\nTotal 12288\n";
        let expected = [
            ("8:0".into(), "read_bytes".into(), 4096),
            ("8:0".into(), "written_bytes".into(), 8192),
        ];
        assert_eq!(v1(text), expected);
    }

    #[test]
    fn version_1_has_files_with_and_without_the_groups_below() {
        let group = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(group.path().join(file), text).unwrap();
        let reads = |endings| {
            let counters = counters(group.path(), Version::V1, endings)?;
            counters.get(&("8:0".to_owned(), "reads")).copied()
        };
        write("blkio.throttle.io_service_bytes", "8:0 Read 4096\n");
        assert_eq!(reads(OWN_FILES), None);
        write("blkio.throttle.io_serviced", "8:0 Read 1\n");
        assert_eq!([OWN_FILES, RECURSIVE_FILES].map(reads), [Some(1); 2]);
        write("blkio.throttle.io_serviced_recursive", "8:0 Read 3\n");
        assert_eq!([OWN_FILES, RECURSIVE_FILES].map(reads), [Some(1), Some(3)]);
    }

    #[test]
    fn version_2_has_one_file_or_none() {
        let group = tempfile::tempdir().unwrap();
        assert_eq!(counters(group.path(), Version::V2, OWN_FILES), None);
        fs::write(group.path().join(V2), "8:0 rbytes=4096 rios=1\n").unwrap();
        let device = "8:0".to_owned();
        let expected = Counters::from([
            ((device.clone(), "read_bytes"), 4096),
            ((device, "reads"), 1),
        ]);
        assert_eq!(
            counters(group.path(), Version::V2, OWN_FILES),
            Some(expected)
        );
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(values: [u64; 4], minor: u8) {
            let [rbytes, wbytes, rios, wios] = values;
            let text = format!(
                "8:{minor} rbytes={rbytes} wbytes={wbytes} rios={rios} wios={wios} dbytes=0\n"
            );
            let read: Vec<u64> = v2(&text).into_iter().map(|(_, _, value)| value).collect();
            prop_assert_eq!(read, values);
        }

        #[test]
        fn nothing_makes_it_panic(text in "(.|[ =\n]){0,60}") {
            let _ = (v1(&text), v2(&text));
        }
    }
}
