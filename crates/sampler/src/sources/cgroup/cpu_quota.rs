//! CPU quota of the group or its nearest ancestor with a quota: cpu.stat.

use std::fs;
use std::path::Path;

use super::group::{Group, Version};
use crate::columns::Columns;
use crate::columns::Source;
use crate::named_values::NamedValues;
use crate::proc_file::ProcFile;

const COUNTERS: [&str; 5] = [
    "periods",
    "throttled_periods",
    "throttled_us",
    "used_us",
    "period_us",
];

/// `cgroup.COUNTER`: periods, throttled periods, throttled time over all CPUs, CPU time (elsewhere
/// in version 1), and period length.
pub(super) struct CpuQuota {
    file: ProcFile,
    counters: NamedValues<{ COUNTERS.len() }>,
    period_us: u64,
    version: Version,
}

impl CpuQuota {
    /// `None` without a quota.
    pub(super) fn open(process: u32, columns: &mut Columns) -> Option<Self> {
        let group = Group::of(process, "cpu")?;
        let limited =
            |folder: &Path| Some((folder.join("cpu.stat"), period(folder, group.version)?));
        let (file, period_us) = group.ancestors().find_map(limited)?;
        Some(Self {
            file: ProcFile::open(file.to_str()?).ok()?,
            counters: NamedValues::new(columns.group("cgroup", &COUNTERS), counter),
            period_us,
            version: group.version,
        })
    }
}

impl Source for CpuQuota {
    fn sample(&mut self, columns: &mut Columns) {
        let Ok(text) = self.file.read() else { return };
        let [periods, throttled, time, usage, _] = self.counters.sums(text);
        let microseconds = match self.version {
            Version::V1 => time.map(|nanoseconds| nanoseconds / 1000),
            Version::V2 => time,
        };
        let period = Some(self.period_us);
        self.counters
            .put(&[periods, throttled, microseconds, usage, period], columns);
    }
}

/// Quota period in microseconds; `None` without a quota.
fn period(group: &Path, version: Version) -> Option<u64> {
    let read = |file| fs::read_to_string(group.join(file)).ok();
    let number = |text: &str| text.trim_end().parse::<u64>().ok();
    match version {
        // Version 1 prints -1 for no quota.
        Version::V1 => {
            number(&read("cpu.cfs_quota_us")?)?;
            number(&read("cpu.cfs_period_us")?)
        }
        // Version 2 prints `QUOTA PERIOD`, with `max` for no quota.
        Version::V2 => {
            let text = read("cpu.max")?;
            let (quota, period) = text.split_once(' ')?;
            number(quota)?;
            number(period)
        }
    }
}

fn counter(name: &[u8]) -> Option<usize> {
    match name {
        b"nr_periods" => Some(0),
        b"nr_throttled" => Some(1),
        b"throttled_usec" | b"throttled_time" => Some(2),
        b"usage_usec" => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period_of(version: Version, files: &[(&str, &str)]) -> Option<u64> {
        let group = tempfile::tempdir().unwrap();
        for (file, text) in files {
            fs::write(group.path().join(file), text).unwrap();
        }
        period(group.path(), version)
    }

    #[test]
    fn a_group_with_a_quota_has_a_period() {
        let v1 = |quota| {
            let files = [
                ("cpu.cfs_quota_us", quota),
                ("cpu.cfs_period_us", "50000\n"),
            ];
            period_of(Version::V1, &files)
        };
        assert_eq!(v1("25000\n"), Some(50_000));
        assert_eq!(v1("-1\n"), None);
        let v2 = |text| period_of(Version::V2, &[("cpu.max", text)]);
        assert_eq!(v2("25000 50000\n"), Some(50_000));
        assert_eq!(v2("max 100000\n"), None);
        assert_eq!(
            [Version::V1, Version::V2].map(|v| period_of(v, &[])),
            [None; 2]
        );
    }

    #[test]
    fn what_both_versions_count_is_read() {
        let mut columns = Columns::default();
        let mut counters = NamedValues::new(columns.group("cgroup", &COUNTERS), counter);
        let v1 = b"nr_periods 9\nnr_throttled 4\nthrottled_time 2000000\nnr_bursts 0\n";
        assert_eq!(
            counters.sums(v1),
            [Some(9), Some(4), Some(2_000_000), None, None]
        );
        let v2 = b"usage_usec 700\nuser_usec 600\nsystem_usec 100\nnr_periods 9\n\
            nr_throttled 4\nthrottled_usec 2000\nnr_bursts 0\nburst_usec 0\n";
        assert_eq!(
            counters.sums(v2),
            [Some(9), Some(4), Some(2000), Some(700), None]
        );
    }
}
