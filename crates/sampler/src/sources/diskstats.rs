//! /proc/diskstats: a line per block device; see Documentation/admin-guide/iostats.rst.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::columns::Source;
use crate::columns::{Column, Columns};
use crate::line_cache::LineCache;
use crate::proc_file::{ProcFile, fields, number};
use crate::reader::SamplingScope;

/// The counters of a device in the order of the kernel's documentation.
const COUNTERS: [&str; 17] = [
    "reads",
    "reads_merged",
    "sectors_read",
    "read_ms",
    "writes",
    "writes_merged",
    "sectors_written",
    "write_ms",
    "in_flight",
    "io_ms",
    "weighted_io_ms",
    "discards",
    "discards_merged",
    "sectors_discarded",
    "discard_ms",
    "flushes",
    "flush_ms",
];

/// Values of [`COUNTERS`].
type DiskCounters = [u64; COUNTERS.len()];

/// Number of counters in every kernel since 2.6; discards came with 4.18, flushes with 5.5.
const ALWAYS_THERE: usize = 11;

/// Line of the file.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    name: &'a str,
    /// Major and minor number in one, as `MAJOR << 20 | MINOR`.
    number: u64,
    /// Counters; those that the kernel lacks are 0.
    counters: DiskCounters,
}

/// All sampled devices, as `disk.NAME.COUNTER` and `disk.NAME.number`.
pub(super) struct Diskstats<F = File> {
    file: ProcFile<F>,
    scope: SamplingScope,
    devices: LineCache<Option<Device>>,
}

/// Columns of a sampled device.
struct Device {
    number: Column,
    counters: [Column; COUNTERS.len()],
}

impl Diskstats {
    pub(super) fn open(scope: &SamplingScope) -> Option<Self> {
        let file = ProcFile::open("/proc/diskstats").ok()?;
        Some(Self::of(file, scope))
    }
}

impl<F> Diskstats<F> {
    fn of(file: ProcFile<F>, scope: &SamplingScope) -> Self {
        Self {
            file,
            scope: scope.clone(),
            devices: LineCache::new(),
        }
    }
}

impl<F: FileExt + Send + Sync> Source for Diskstats<F> {
    fn sample(&mut self, columns: &mut Columns) {
        // A disk is one record with all its partitions (`diskstats_show` of block/genhd.c).
        let Ok(text) = self.file.read() else {
            return;
        };
        let lines = text.split(|&byte| byte == b'\n').filter_map(parse);
        for (index, line) in lines.enumerate() {
            let new = || Device::of(line.name, &self.scope, columns);
            if let Some(device) = self.devices.at(index, line.name.as_bytes(), new) {
                columns.put(device.number, line.number);
                columns.put_all(&device.counters, &line.counters);
            }
        }
    }
}

impl Device {
    fn of(name: &str, scope: &SamplingScope, columns: &mut Columns) -> Option<Self> {
        let group = format!("disk.{name}");
        scope.device(name).then(|| Self {
            number: columns.get_or_add(&format!("{group}.number")),
            counters: columns.group(&group, &COUNTERS),
        })
    }
}

/// `None` if the format is unknown.
fn parse(line: &[u8]) -> Option<Line<'_>> {
    let mut fields = fields(line);
    let (major, minor) = (number(fields.next()?)?, number(fields.next()?)?);
    let name = std::str::from_utf8(fields.next()?).ok()?;
    let mut counters = DiskCounters::default();
    let mut known = 0;
    for (counter, field) in counters.iter_mut().zip(fields) {
        *counter = number(field)?;
        known += 1;
    }
    let number = major.checked_shl(20)? | minor;
    (known >= ALWAYS_THERE).then_some(Line {
        name,
        number,
        counters,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::proc_file::fake::Pieces;

    fn counters(text: &[u8], device: &str) -> Option<DiskCounters> {
        let mut lines = text.split(|&byte| byte == b'\n').filter_map(parse);
        lines
            .find(|line| line.name == device)
            .map(|line| line.counters)
    }

    const CENTOS_6: &[u8] = b"   8       0 sda 35486 1723 2290418 301921 80912 151018 1850626 \
        2194812 0 189272 2496584\n   8       1 sda1 1 2 3 4 5 6 7 8 9 10 11\n";
    const LINUX_4_19: &[u8] = b" 253       0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n";
    const LINUX_6: &[u8] = b"   7       0 loop0 10 0 80 2 0 0 0 0 0 4 2 0 0 0 0 0 0\n \
        104       0 cciss/c0d0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";

    #[test]
    fn a_kernel_without_discards_and_flushes_has_zeros_there() {
        let found = counters(CENTOS_6, "sda").unwrap();
        assert_eq!(found[0], 35486);
        assert_eq!(found[10], 2_496_584);
        assert_eq!(found[11..], [0; 6]);
    }

    #[test]
    fn a_kernel_without_flushes_has_discards() {
        let found = counters(LINUX_4_19, "vda").unwrap();
        assert_eq!(found[11..], [12, 13, 14, 15, 0, 0]);
    }

    #[test]
    fn a_partition_is_not_its_disk() {
        assert_eq!(counters(CENTOS_6, "sda1").unwrap()[10], 11);
        assert_eq!(counters(CENTOS_6, "sd"), None);
    }

    #[test]
    fn names_may_hold_a_slash() {
        let found = counters(LINUX_6, "cciss/c0d0").unwrap();
        assert_eq!(found, std::array::from_fn(|index| index as u64 + 1));
    }

    #[test]
    fn a_line_cut_short_or_garbled_is_no_device() {
        assert_eq!(counters(b"8 0 sda 1 2 3", "sda"), None);
        assert_eq!(counters(b"8 0 sda 1 2 x 4 5 6 7 8 9 10 11", "sda"), None);
        assert_eq!(counters(b"", "sda"), None);
    }

    #[test]
    fn a_device_number_distinguishes_devices_of_one_name() {
        let line = b" 259       3 nvme0n1 1 2 3 4 5 6 7 8 9 10 11";
        assert_eq!(parse(line).unwrap().number, 259 << 20 | 3);
    }

    #[test]
    fn a_disk_after_omitted_partitions_is_there() {
        let pieces = Pieces(&[
            "8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n",
            "8 16 sdb 1 2 3 4 5 6 7 8 9 10 11\n8 17 sdb1 1 2 3 4 5 6 7 8 9 10 11\n",
            "8 32 sdc 7 2 3 4 5 6 7 8 9 10 11\n",
        ]);
        let all = SamplingScope {
            devices: None,
            workload: vec![],
        };
        let mut columns = Columns::default();
        Diskstats::of(ProcFile::of(pieces), &all).sample(&mut columns);
        let mut names = columns.names().iter();
        let reads = names.position(|name| name == "disk.sdc.reads").unwrap();
        assert_eq!(columns.row()[reads], Some(7));
    }

    #[test]
    fn what_several_kernels_show_is_read() {
        let samples: [(&[u8], &str, [u64; 3]); 5] = [
            (
                include_bytes!("../../../../tests/host/samples/diskstats-2.6.32"),
                "dm-0",
                [36112, 0, 0],
            ),
            (
                include_bytes!("../../../../tests/host/samples/diskstats-3.10"),
                "sda",
                [88113, 0, 0],
            ),
            (
                include_bytes!("../../../../tests/host/samples/diskstats-4.18"),
                "vda",
                [20112, 11, 0],
            ),
            (
                include_bytes!("../../../../tests/host/samples/diskstats-5.14"),
                "sdb",
                [901, 0, 21],
            ),
            (
                include_bytes!("../../../../tests/host/samples/diskstats-6.8"),
                "md127",
                [5012, 0, 0],
            ),
        ];
        for (text, device, [reads, discards, flushes]) in samples {
            let found = counters(text, device).unwrap();
            assert_eq!(
                [found[0], found[11], found[15]],
                [reads, discards, flushes],
                "{device}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(
            name in "[a-z][a-z0-9/!._-]{0,30}",
            values in proptest::collection::vec(any::<u64>(), 11..25),
        ) {
            let printed: Vec<String> = values.iter().map(ToString::to_string).collect();
            let line = format!("{:4} {:7} {name} {}\n", 259, 3, printed.join(" "));
            let found = counters(line.as_bytes(), &name).unwrap();
            for (index, counter) in found.into_iter().enumerate() {
                prop_assert_eq!(counter, values.get(index).copied().unwrap_or(0));
            }
        }

        #[test]
        fn nothing_makes_it_panic(
            text in proptest::collection::vec(any::<u8>(), 0..300),
            name in ".{0,8}",
        ) {
            let _ = counters(&text, &name);
        }
    }
}
