//! Memory limit events of the group or its nearest limited ancestor: memory.events.local of version
//! 2, memory.failcnt of version 1.

use std::fs;
use std::path::Path;

use super::group::{Group, Version};
use crate::columns::Columns;
use crate::columns::Source;
use crate::named_values::NamedValues;
use crate::proc_file::{ProcFile, number};

const COUNTERS: [&str; 2] = ["memory_high", "memory_max_hits"];
/// Version 1 prints a very large number for no limit.
const V1_UNLIMITED: u64 = 1 << 62;

/// `cgroup.COUNTER`: number of reclaims above `memory.high`, and number of limit hits.
pub(super) struct Reclaim {
    file: ProcFile,
    counters: NamedValues<{ COUNTERS.len() }>,
    version: Version,
}

impl Reclaim {
    /// `None` without a limit.
    pub(super) fn open(process: u32, columns: &mut Columns) -> Option<Self> {
        let group = Group::of(process, "memory")?;
        let limited = group
            .ancestors()
            .find(|folder| has_limit(folder, group.version))?;
        Some(Self {
            file: counting(limited, group.version)?,
            counters: NamedValues::new(columns.group("cgroup", &COUNTERS), counter),
            version: group.version,
        })
    }
}

impl Source for Reclaim {
    fn sample(&mut self, columns: &mut Columns) {
        let Ok(text) = self.file.read() else { return };
        let counters = match self.version {
            Version::V1 => [None, number(text.trim_ascii_end())],
            Version::V2 => self.counters.sums(text),
        };
        self.counters.put(&counters, columns);
    }
}

/// Version 2 includes descendants in memory.events and, since 5.2, excludes them in
/// memory.events.local.
fn counting(group: &Path, version: Version) -> Option<ProcFile> {
    let files: &[&str] = match version {
        Version::V1 => &["memory.failcnt"],
        Version::V2 => &["memory.events.local", "memory.events"],
    };
    let mut paths = files.iter().map(|file| group.join(file));
    paths.find_map(|path| ProcFile::open(path.to_str()?).ok())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_at_other_limits_below_does_not_count() {
        let group = tempfile::tempdir().unwrap();
        let counters = || {
            let mut columns = Columns::default();
            let counters = NamedValues::new(columns.group("cgroup", &COUNTERS), counter);
            let file = counting(group.path(), Version::V2).unwrap();
            let version = Version::V2;
            Reclaim {
                file,
                counters,
                version,
            }
            .sample(&mut columns);
            columns.row().to_vec()
        };
        let write = |file: &str, text: &str| fs::write(group.path().join(file), text).unwrap();
        write("memory.events", "low 0\nhigh 2\nmax 70\noom 0\n");
        assert_eq!(counters(), [Some(2), Some(70)]);
        write("memory.events.local", "low 0\nhigh 0\nmax 3\noom 0\n");
        assert_eq!(counters(), [Some(0), Some(3)]);
    }
}
