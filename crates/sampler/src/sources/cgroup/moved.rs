//! What the group has read and written: io.stat of version 2, blkio.throttle.* of version 1.

use std::fs;

use super::group::{Group, Version};
use crate::columns::Columns;
use crate::source::Source;

/// Version 2 has a line for each device: `8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0`.
const V2: &str = "io.stat";
const V2_KEYS: [(&str, &str); 4] = [
    ("rbytes", "read_bytes"),
    ("wbytes", "written_bytes"),
    ("rios", "reads"),
    ("wios", "writes"),
];
/// Version 1 has a file for bytes and one for requests, with a line for each operation of each
/// device: `8:0 Read 1`. Those of groups below count where the kernel (since 4.4) adds them.
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
const V1_WITH_THOSE_BELOW: &str = "_recursive";

/// `cgroup.MAJOR:MINOR.COUNTER`, in bytes and requests.
pub(super) struct Moved(Group);

impl Moved {
    pub(super) fn open(process: u32) -> Option<Self> {
        Group::of(process, "blkio").map(Self)
    }
}

impl Source for Moved {
    fn sample(&mut self, columns: &mut Columns) {
        match self.0.version {
            Version::V2 => {
                let text = fs::read_to_string(self.0.own.join(V2)).unwrap_or_default();
                parse_v2(&text, |device, counter, value| {
                    put(columns, device, counter, value);
                });
            }
            Version::V1 => {
                for (file, operations) in &V1 {
                    let text = self.v1(file).unwrap_or_default();
                    parse_v1(&text, operations, |device, counter, value| {
                        put(columns, device, counter, value);
                    });
                }
            }
        }
    }
}

impl Moved {
    fn v1(&self, file: &str) -> Option<String> {
        let whole = self.0.own.join(format!("{file}{V1_WITH_THOSE_BELOW}"));
        let own = self.0.own.join(file);
        fs::read_to_string(whole)
            .or_else(|_| fs::read_to_string(own))
            .ok()
    }
}

fn put(columns: &mut Columns, device: &str, counter: &str, value: u64) {
    let column = columns.named(&format!("cgroup.{device}.{counter}"));
    columns.put(column, value);
}

fn parse_v2(text: &str, mut take: impl FnMut(&str, &str, u64)) {
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

fn parse_v1(text: &str, operations: &[(&str, &str)], mut take: impl FnMut(&str, &str, u64)) {
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
