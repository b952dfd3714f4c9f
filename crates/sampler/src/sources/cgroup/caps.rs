//! How much of each device the group may have: io.max of version 2, blkio.throttle.*_device of 1.

use std::collections::BTreeMap;
use std::fs;

use super::group::{Group, Version};
use crate::columns::Columns;
use crate::source::Source;

/// Version 2 has a line for each device: `8:0 rbps=1048576 wbps=max riops=max wiops=max`.
const V2: &str = "io.max";
const V2_KEYS: [&str; 4] = ["rbps", "wbps", "riops", "wiops"];
/// Version 1 has a file for each, with a line for each device: `8:0 1048576`.
const V1: [(&str, &str); 4] = [
    ("blkio.throttle.read_bps_device", "rbps"),
    ("blkio.throttle.write_bps_device", "wbps"),
    ("blkio.throttle.read_iops_device", "riops"),
    ("blkio.throttle.write_iops_device", "wiops"),
];

/// Caps by device and kind.
type InForce = BTreeMap<(String, &'static str), u64>;

/// `cgroup.MAJOR:MINOR.max_KIND`, a second; one that is not set is missing.
pub(super) struct Caps(Group);

impl Caps {
    pub(super) fn open(process: u32) -> Option<Self> {
        Group::of(process, "blkio").map(Self)
    }

    /// Version 2 holds a group to all caps above it as well, version 1 only to its own (see
    /// `throtl_pd_init()` in the kernel's block/blk-throttle.c).
    fn in_force(&self) -> InForce {
        let mut caps = InForce::new();
        match self.0.version {
            Version::V2 => {
                for group in self.0.upwards() {
                    let text = fs::read_to_string(group.join(V2)).unwrap_or_default();
                    parse_v2(&text, &mut caps);
                }
            }
            Version::V1 => {
                for (file, kind) in V1 {
                    let text = fs::read_to_string(self.0.own.join(file)).unwrap_or_default();
                    parse_v1(&text, kind, &mut caps);
                }
            }
        }
        caps
    }
}

impl Source for Caps {
    fn sample(&mut self, columns: &mut Columns) {
        for ((device, kind), cap) in self.in_force() {
            let column = columns.named(&format!("cgroup.{device}.max_{kind}"));
            columns.put(column, cap);
        }
    }
}

fn parse_v2(text: &str, caps: &mut InForce) {
    for line in text.lines() {
        let mut fields = line.split(' ');
        let device = fields.next().unwrap_or_default();
        for (key, cap) in fields.filter_map(|field| field.split_once('=')) {
            if let Some(kind) = V2_KEYS.iter().find(|own| **own == key) {
                lower(caps, device, kind, cap);
            }
        }
    }
}

fn parse_v1(text: &str, kind: &'static str, caps: &mut InForce) {
    for (device, cap) in text.lines().filter_map(|line| line.split_once(' ')) {
        lower(caps, device, kind, cap);
    }
}

/// The lowest counts; `max` is none.
fn lower(caps: &mut InForce, device: &str, kind: &'static str, cap: &str) {
    if let Ok(cap) = cap.parse::<u64>() {
        caps.entry((device.to_owned(), kind))
            .and_modify(|lowest| *lowest = cap.min(*lowest))
            .or_insert(cap);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(caps: &InForce) -> Vec<(&str, &str, u64)> {
        let all = caps.iter();
        all.map(|((device, kind), cap)| (device.as_str(), *kind, *cap))
            .collect()
    }

    #[test]
    fn the_lowest_cap_up_the_tree_is_in_force() {
        let mut caps = InForce::new();
        parse_v2("7:0 rbps=max wbps=5000 riops=max wiops=120\n", &mut caps);
        parse_v2(
            "7:0 rbps=9000 wbps=7000 riops=max wiops=100\n8:0 rbps=1\n",
            &mut caps,
        );
        let expected = [
            ("7:0", "rbps", 9000),
            ("7:0", "wbps", 5000),
            ("7:0", "wiops", 100),
            ("8:0", "rbps", 1),
        ];
        assert_eq!(told(&caps), expected);
    }

    #[test]
    fn version_1_has_a_file_for_each_kind() {
        let mut caps = InForce::new();
        parse_v1("8:0 1048576\n8:16 2097152\n", "rbps", &mut caps);
        parse_v1("8:0 100\n", "wiops", &mut caps);
        let expected = [
            ("8:0", "rbps", 1_048_576),
            ("8:0", "wiops", 100),
            ("8:16", "rbps", 2_097_152),
        ];
        assert_eq!(told(&caps), expected);
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(values: [u64; 4]) {
            let [rbps, wbps, riops, wiops] = values;
            let text = format!("8:0 rbps={rbps} wbps={wbps} riops={riops} wiops={wiops}\n");
            let mut caps = InForce::new();
            parse_v2(&text, &mut caps);
            let read = V2_KEYS.map(|kind| caps[&("8:0".to_owned(), kind)]);
            prop_assert_eq!(read, values);
        }

        #[test]
        fn nothing_makes_it_panic(text in "(.|[ =\n]){0,60}") {
            parse_v2(&text, &mut InForce::new());
            parse_v1(&text, "rbps", &mut InForce::new());
        }
    }
}
