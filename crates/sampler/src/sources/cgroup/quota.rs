//! The CPU quota of the group, or of the nearest one above it that has one: cpu.stat.

use std::fs;
use std::path::Path;

use super::group::{Group, Version};
use crate::columns::Columns;
use crate::named::Named;
use crate::proc_file::ProcFile;
use crate::source::Source;

const COUNTERS: [&str; 3] = ["periods", "throttled_periods", "throttled_us"];

/// `cgroup.COUNTER`: periods of the quota, those in which it ran out, and the time that the group
/// was held back then, added up over processors.
pub(super) struct Quota {
    file: ProcFile,
    counters: Named<{ COUNTERS.len() }>,
    version: Version,
}

impl Quota {
    /// None if there is no quota.
    pub(super) fn open(process: u32, columns: &mut Columns) -> Option<Self> {
        let group = Group::of(process, "cpu")?;
        let limited = group
            .upwards()
            .find(|folder| has_quota(folder, group.version))?;
        Some(Self {
            file: ProcFile::open(limited.join("cpu.stat").to_str()?).ok()?,
            counters: Named::new(columns.group("cgroup", &COUNTERS), counter),
            version: group.version,
        })
    }
}

impl Source for Quota {
    fn sample(&mut self, columns: &mut Columns) {
        let Ok(text) = self.file.read() else { return };
        let [periods, throttled, time] = self.counters.sums(text);
        let microseconds = match self.version {
            Version::V1 => time.map(|nanoseconds| nanoseconds / 1000),
            Version::V2 => time,
        };
        self.counters
            .put(&[periods, throttled, microseconds], columns);
    }
}

/// Version 2 prints `QUOTA PERIOD`, or `max` for none; version 1 a quota, or -1.
fn has_quota(group: &Path, version: Version) -> bool {
    let file = match version {
        Version::V1 => "cpu.cfs_quota_us",
        Version::V2 => "cpu.max",
    };
    let text = fs::read_to_string(group.join(file)).unwrap_or_default();
    text.split([' ', '\n'])
        .next()
        .is_some_and(|quota| quota.parse::<u64>().is_ok())
}

fn counter(name: &[u8]) -> Option<usize> {
    match name {
        b"nr_periods" => Some(0),
        b"nr_throttled" => Some(1),
        b"throttled_usec" | b"throttled_time" => Some(2),
        _ => None,
    }
}
