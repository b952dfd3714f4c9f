//! I/O limits of the group and their use: io.max of version 2, blkio.throttle.*_device of version
//! 1.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::group::{Group, Version};
use super::group_io::{self, Counters};
use crate::columns::Columns;
use crate::columns::Source;

/// Limits with the counters that they apply to.
type Kind = (&'static str, &'static str);
const KINDS: [Kind; 4] = [
    ("rbps", "read_bytes"),
    ("wbps", "written_bytes"),
    ("riops", "reads"),
    ("wiops", "writes"),
];

/// Version 2 has a line per device: `8:0 rbps=1048576 wbps=max riops=max wiops=max`.
const V2: &str = "io.max";
/// Version 1 has a file per kind of [`KINDS`], with a line per device: `8:0 1048576`.
const V1: [&str; KINDS.len()] = [
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
];

/// Limit per second of all processes in the group.
#[derive(Debug, Clone, Copy)]
struct IoLimit<'a> {
    per_second: u64,
    group: &'a Path,
}

/// Limits by device and kind.
type EffectiveLimits<'a> = BTreeMap<(String, Kind), IoLimit<'a>>;

/// Limits per second as `cgroup.MAJOR:MINOR.max_KIND`, and the I/O of the limited group as
/// `cgroup.MAJOR:MINOR.capped_COUNTER`. Unset limits are missing.
pub(super) struct IoLimits(Group);

impl IoLimits {
    pub(super) fn open(process: u32) -> Option<Self> {
        Group::of(process, "blkio").map(Self)
    }

    /// Version 2 applies the limits of all ancestors, version 1 only the group's own (see
    /// `throtl_pd_init()` in the kernel's block/blk-throttle.c).
    fn effective_limits(&self) -> EffectiveLimits<'_> {
        let mut caps = EffectiveLimits::new();
        match self.0.version {
            Version::V2 => {
                for group in self.0.ancestors() {
                    let text = fs::read_to_string(group.join(V2)).unwrap_or_default();
                    parse_v2(&text, group, &mut caps);
                }
            }
            Version::V1 => {
                let group = &self.0.own;
                for (file, kind) in V1.into_iter().zip(KINDS) {
                    let text = fs::read_to_string(group.join(file)).unwrap_or_default();
                    parse_v1(&text, kind, group, &mut caps);
                }
            }
        }
        caps
    }
}

impl Source for IoLimits {
    fn sample(&mut self, columns: &mut Columns) {
        let caps = self.effective_limits();
        for ((device, (kind, _)), cap) in &caps {
            super::put(columns, device, &format!("max_{kind}"), cap.per_second);
        }
        let groups: BTreeSet<&Path> = caps.values().map(|cap| cap.group).collect();
        for group in groups {
            if let Some(counters) = group_io::counters(group, self.0.version, group_io::OWN_FILES) {
                put_used(&caps, group, &counters, columns);
            }
        }
    }
}

/// Set the I/O that counts against a group's limits; devices without I/O have none.
fn put_used(caps: &EffectiveLimits<'_>, group: &Path, counters: &Counters, columns: &mut Columns) {
    for ((device, (_, counter)), _) in caps.iter().filter(|(_, cap)| cap.group == group) {
        let value = counters.get(&(device.clone(), *counter)).copied();
        super::put(
            columns,
            device,
            &format!("capped_{counter}"),
            value.unwrap_or(0),
        );
    }
}

fn parse_v2<'a>(text: &str, group: &'a Path, caps: &mut EffectiveLimits<'a>) {
    for line in text.lines() {
        let mut fields = line.split(' ');
        let device = fields.next().unwrap_or_default();
        for (key, cap) in fields.filter_map(|field| field.split_once('=')) {
            if let Some(kind) = KINDS.iter().find(|(own, _)| *own == key) {
                keep_lower(caps, device, *kind, cap, group);
            }
        }
    }
}

fn parse_v1<'a>(text: &str, kind: Kind, group: &'a Path, caps: &mut EffectiveLimits<'a>) {
    for (device, cap) in text.lines().filter_map(|line| line.split_once(' ')) {
        keep_lower(caps, device, kind, cap, group);
    }
}

/// Keep the lowest limit, and of equal ones that of the upper group, which more processes share;
/// `max` means no limit.
fn keep_lower<'a>(
    caps: &mut EffectiveLimits<'a>,
    device: &str,
    kind: Kind,
    cap: &str,
    group: &'a Path,
) {
    if let Ok(per_second) = cap.parse::<u64>() {
        let cap = IoLimit { per_second, group };
        caps.entry((device.to_owned(), kind))
            .and_modify(|lowest| {
                if per_second <= lowest.per_second {
                    *lowest = cap;
                }
            })
            .or_insert(cap);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found<'a>(caps: &'a EffectiveLimits<'_>) -> Vec<(&'a str, &'static str, u64, &'a str)> {
        caps.iter()
            .map(|((device, (kind, _)), cap)| {
                let group = cap.group.to_str().unwrap();
                (device.as_str(), *kind, cap.per_second, group)
            })
            .collect()
    }

    #[test]
    fn the_lowest_cap_up_the_tree_is_in_force() {
        let (own, upper) = (Path::new("/a/b"), Path::new("/a"));
        let mut caps = EffectiveLimits::new();
        parse_v2(
            "7:0 rbps=9000 wbps=5000 riops=max wiops=120\n",
            own,
            &mut caps,
        );
        parse_v2(
            "7:0 rbps=9000 wbps=7000 riops=max wiops=100\n8:0 rbps=1\n",
            upper,
            &mut caps,
        );
        let expected = [
            ("7:0", "rbps", 9000, "/a"),
            ("7:0", "wbps", 5000, "/a/b"),
            ("7:0", "wiops", 100, "/a"),
            ("8:0", "rbps", 1, "/a"),
        ];
        assert_eq!(found(&caps), expected);
    }

    #[test]
    fn version_1_has_a_file_for_each_kind() {
        let group = Path::new("/a");
        let mut caps = EffectiveLimits::new();
        parse_v1("8:0 1048576\n8:16 2097152\n", KINDS[0], group, &mut caps);
        parse_v1("8:0 100\n", KINDS[3], group, &mut caps);
        let expected = [
            ("8:0", "rbps", 1_048_576, "/a"),
            ("8:0", "wiops", 100, "/a"),
            ("8:16", "rbps", 2_097_152, "/a"),
        ];
        assert_eq!(found(&caps), expected);
    }

    #[test]
    fn what_is_used_of_a_cap_is_that_of_the_group_which_has_it() {
        let (own, upper) = (Path::new("/a/b"), Path::new("/a"));
        let mut caps = EffectiveLimits::new();
        parse_v2("7:0 wbps=5000\n8:0 riops=50\n", own, &mut caps);
        parse_v2("7:0 riops=100\n", upper, &mut caps);
        let device = "7:0".to_owned();
        let counters = Counters::from([((device.clone(), "reads"), 70), ((device, "writes"), 9)]);
        let mut columns = Columns::default();
        put_used(&caps, upper, &counters, &mut columns);
        put_used(&caps, own, &Counters::new(), &mut columns);
        let expected = [
            ("cgroup.7:0.capped_reads", Some(70)),
            ("cgroup.7:0.capped_written_bytes", Some(0)),
            ("cgroup.8:0.capped_reads", Some(0)),
        ];
        let names = columns.names().iter().map(String::as_str);
        let found: Vec<_> = names.zip(columns.row().iter().copied()).collect();
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(values: [u64; 4]) {
            let [rbps, wbps, riops, wiops] = values;
            let text = format!("8:0 rbps={rbps} wbps={wbps} riops={riops} wiops={wiops}\n");
            let mut caps = EffectiveLimits::new();
            parse_v2(&text, Path::new("/a"), &mut caps);
            let read = KINDS.map(|kind| caps[&("8:0".to_owned(), kind)].per_second);
            prop_assert_eq!(read, values);
        }

        #[test]
        fn nothing_makes_it_panic(text in "(.|[ =\n]){0,60}") {
            parse_v2(&text, Path::new("/a"), &mut EffectiveLimits::new());
            parse_v1(&text, KINDS[0], Path::new("/a"), &mut EffectiveLimits::new());
        }
    }
}
