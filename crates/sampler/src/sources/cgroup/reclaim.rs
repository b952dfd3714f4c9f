//! The memory limit of the group, or of the nearest one above it that has one: memory.events of
//! version 2, memory.failcnt of version 1.

use std::fs;
use std::path::Path;

use super::group::{Group, Version};
use crate::columns::Columns;
use crate::named::Named;
use crate::proc_file::{ProcFile, number};
use crate::source::Source;

const COUNTERS: [&str; 2] = ["memory_high", "memory_max_hits"];
/// Version 1 has no word for "no limit": it prints the largest number of pages, in bytes.
const V1_UNLIMITED: u64 = 1 << 62;

/// `cgroup.COUNTER`: how often a process was held up to reclaim above `memory.high`, and how often
/// the group was at its limit.
pub(super) struct Reclaim {
    file: ProcFile,
    counters: Named<{ COUNTERS.len() }>,
    version: Version,
}

impl Reclaim {
    /// None if there is no limit.
    pub(super) fn open(process: u32, columns: &mut Columns) -> Option<Self> {
        let group = Group::of(process, "memory")?;
        let limited = group
            .upwards()
            .find(|folder| has_limit(folder, group.version))?;
        let file = match group.version {
            Version::V1 => "memory.failcnt",
            Version::V2 => "memory.events",
        };
        Some(Self {
            file: ProcFile::open(limited.join(file).to_str()?).ok()?,
            counters: Named::new(columns.group("cgroup", &COUNTERS), counter),
            version: group.version,
        })
    }
}

impl Source for Reclaim {
    fn sample(&mut self, columns: &mut Columns) {
        let Ok(text) = self.file.read() else { return };
        let counted = match self.version {
            Version::V1 => [None, number(text.trim_ascii_end())],
            Version::V2 => self.counters.sums(text),
        };
        self.counters.put(&counted, columns);
    }
}

fn has_limit(group: &Path, version: Version) -> bool {
    let limit = |file: &str| -> Option<u64> {
        let text = fs::read_to_string(group.join(file)).ok()?;
        text.trim_end().parse().ok()
    };
    match version {
        Version::V1 => limit("memory.limit_in_bytes").is_some_and(|bytes| bytes < V1_UNLIMITED),
        Version::V2 => ["memory.high", "memory.max"]
            .into_iter()
            .any(|file| limit(file).is_some()),
    }
}

fn counter(name: &[u8]) -> Option<usize> {
    match name {
        b"high" => Some(0),
        b"max" => Some(1),
        _ => None,
    }
}
