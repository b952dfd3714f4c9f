//! /proc/diskstats: a line per block device; see Documentation/admin-guide/iostats.rst.

/// The counters of a device in the order of the kernel's documentation.
pub const COUNTERS: [&str; 17] = [
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

/// One value for each of [`COUNTERS`].
pub type DiskCounters = [u64; COUNTERS.len()];

/// Counters that every kernel since 2.6 has; discards came with 4.18, flushes with 5.5.
const ALWAYS_THERE: usize = 11;

/// The counters of `device`; those that the kernel does not know are 0. None if the device is not
/// there, or its line is not one that the kernel documents.
#[must_use]
pub fn parse_diskstats(text: &[u8], device: &str) -> Option<DiskCounters> {
    text.split(|&byte| byte == b'\n')
        .find_map(|line| counters(line, device.as_bytes()))
}

fn counters(line: &[u8], device: &[u8]) -> Option<DiskCounters> {
    let mut fields = line
        .split(|&byte| byte == b' ')
        .filter(|field| !field.is_empty())
        .skip(2);
    if fields.next() != Some(device) {
        return None;
    }
    let mut found = DiskCounters::default();
    let mut known = 0;
    for (counter, field) in found.iter_mut().zip(fields) {
        *counter = crate::proc_file::number(field)?;
        known += 1;
    }
    (known >= ALWAYS_THERE).then_some(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CENTOS_6: &[u8] = b"   8       0 sda 35486 1723 2290418 301921 80912 151018 1850626 \
        2194812 0 189272 2496584\n   8       1 sda1 1 2 3 4 5 6 7 8 9 10 11\n";
    const LINUX_4_19: &[u8] = b" 253       0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n";
    const LINUX_6: &[u8] = b"   7       0 loop0 10 0 80 2 0 0 0 0 0 4 2 0 0 0 0 0 0\n \
        104       0 cciss/c0d0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";

    #[test]
    fn a_kernel_without_discards_and_flushes_has_zeros_there() {
        let found = parse_diskstats(CENTOS_6, "sda").unwrap();
        assert_eq!(found[0], 35486);
        assert_eq!(found[10], 2_496_584);
        assert_eq!(found[11..], [0; 6]);
    }

    #[test]
    fn a_kernel_without_flushes_has_discards() {
        let found = parse_diskstats(LINUX_4_19, "vda").unwrap();
        assert_eq!(found[11..], [12, 13, 14, 15, 0, 0]);
    }

    #[test]
    fn a_partition_is_not_its_disk() {
        assert_eq!(parse_diskstats(CENTOS_6, "sda1").unwrap()[10], 11);
        assert_eq!(parse_diskstats(CENTOS_6, "sd"), None);
    }

    #[test]
    fn names_may_hold_a_slash() {
        let found = parse_diskstats(LINUX_6, "cciss/c0d0").unwrap();
        assert_eq!(found, std::array::from_fn(|index| index as u64 + 1));
    }

    #[test]
    fn a_line_cut_short_or_garbled_is_no_device() {
        assert_eq!(parse_diskstats(b"8 0 sda 1 2 3", "sda"), None);
        assert_eq!(
            parse_diskstats(b"8 0 sda 1 2 x 4 5 6 7 8 9 10 11", "sda"),
            None
        );
        assert_eq!(parse_diskstats(b"", "sda"), None);
    }

    #[test]
    fn what_several_kernels_show_is_read() {
        let samples: [(&[u8], &str, [u64; 3]); 5] = [
            (
                include_bytes!("../../../tests/host/samples/diskstats-2.6.32"),
                "dm-0",
                [36112, 0, 0],
            ),
            (
                include_bytes!("../../../tests/host/samples/diskstats-3.10"),
                "sda",
                [88113, 0, 0],
            ),
            (
                include_bytes!("../../../tests/host/samples/diskstats-4.18"),
                "vda",
                [20112, 11, 0],
            ),
            (
                include_bytes!("../../../tests/host/samples/diskstats-5.14"),
                "sdb",
                [901, 0, 21],
            ),
            (
                include_bytes!("../../../tests/host/samples/diskstats-6.8"),
                "md127",
                [5012, 0, 0],
            ),
        ];
        for (text, device, [reads, discards, flushes]) in samples {
            let found = parse_diskstats(text, device).unwrap();
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
            let found = parse_diskstats(line.as_bytes(), &name).unwrap();
            for (index, counter) in found.into_iter().enumerate() {
                prop_assert_eq!(counter, values.get(index).copied().unwrap_or(0));
            }
        }

        #[test]
        fn nothing_makes_it_panic(
            text in proptest::collection::vec(any::<u8>(), 0..300),
            name in ".{0,8}",
        ) {
            let _ = parse_diskstats(&text, &name);
        }
    }
}
