//! /proc/net/dev: a line per network interface; see proc(5) and net/core/net-procfs.c.

use std::fs;
use std::path::{Path, PathBuf};

use crate::columns::{Column, Columns, Source};
use crate::line_cache::LineCache;
use crate::proc_file::{ProcFile, fields, number};

/// Counters of an interface, with their positions among the kernel's 16.
const COUNTERS: [&str; 8] = [
    "rx_bytes",
    "rx_packets",
    "rx_errors",
    "rx_dropped",
    "tx_bytes",
    "tx_packets",
    "tx_errors",
    "tx_dropped",
];
const RECEIVED: usize = 0;
const SENT: usize = 8;
const PER_DIRECTION: usize = 4;

/// Values of [`COUNTERS`].
type Counters = [u64; COUNTERS.len()];

/// Interfaces of this network namespace, as `net.INTERFACE.COUNTER`, with their speed as
/// `net.INTERFACE.speed_mbit`.
///
/// Only interfaces of /proc/net/dev have a speed: /sys may belong to another namespace after
/// `unshare --net` or `nsenter --net`.
pub(super) struct NetDev {
    file: ProcFile,
    speeds: PathBuf,
    interfaces: LineCache<[Column; COUNTERS.len()]>,
}

impl NetDev {
    pub(super) fn open() -> Option<Self> {
        Self::of("/proc/net/dev", "/sys/class/net")
    }

    /// `counters` is the counter file, `speeds` the folder with one folder per interface.
    fn of(counters: &str, speeds: &str) -> Option<Self> {
        Some(Self {
            file: ProcFile::open(counters).ok()?,
            speeds: speeds.into(),
            interfaces: LineCache::new(),
        })
    }
}

impl Source for NetDev {
    fn sample(&mut self, columns: &mut Columns) {
        let Ok(text) = self.file.read_lines() else {
            return;
        };
        let lines = text.split(|&byte| byte == b'\n').filter_map(parse);
        for (index, (name, counters)) in lines.enumerate() {
            let new = || columns.group(&format!("net.{name}"), &COUNTERS);
            let interface = self.interfaces.at(index, name.as_bytes(), new);
            columns.put_all(interface, &counters);
            if let Some(mbit) = speed_mbit(&self.speeds, name) {
                let column = columns.get_or_add(&format!("net.{name}.speed_mbit"));
                columns.put(column, mbit);
            }
        }
    }
}

/// Interface and counters; `None` for a heading or an unknown format.
fn parse(line: &[u8]) -> Option<(&str, Counters)> {
    // The last colon, because an alias contains one.
    let colon = line.iter().rposition(|&byte| byte == b':')?;
    let name = std::str::from_utf8(&line[..colon]).ok()?.trim_start();
    let mut all = [0; SENT + PER_DIRECTION];
    let mut found = fields(&line[colon + 1..]);
    for value in &mut all {
        *value = number(found.next()?)?;
    }
    let counters = std::array::from_fn(|index| match index {
        ..PER_DIRECTION => all[RECEIVED + index],
        _ => all[SENT + index - PER_DIRECTION],
    });
    Some((name, counters))
}

/// Link speed of an interface in 10**6 bits per second; `folder` contains one folder per interface.
///
/// `None` for virtual interfaces and for those without a link.
pub(super) fn speed_mbit(folder: &Path, interface: &str) -> Option<u64> {
    parse_speed(&fs::read_to_string(folder.join(interface).join("speed")).ok()?)
}

/// `None` if unknown: 0, -1, or the largest 32-bit number on old kernels.
fn parse_speed(text: &str) -> Option<u64> {
    let mbit: u64 = text.trim_end().parse().ok()?;
    (mbit > 0 && mbit < u64::from(u32::MAX)).then_some(mbit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8]) -> Vec<(&str, Counters)> {
        text.split(|&byte| byte == b'\n')
            .filter_map(parse)
            .collect()
    }

    #[test]
    fn what_several_kernels_show_is_read() {
        let rhel_6 = include_bytes!("../../../../tests/host/samples/net-dev-2.6.32");
        assert_eq!(
            read(rhel_6),
            [
                ("lo", [70_112, 812, 0, 0, 70_112, 812, 0, 0]),
                // No space after the colon when the number fills its place.
                (
                    "eth0",
                    [
                        4_112_233_445,
                        30_122_334,
                        1,
                        22,
                        991_223_344,
                        20_113_344,
                        3,
                        4
                    ]
                ),
                ("eth0:1", [10, 1, 0, 0, 20, 2, 0, 0]),
            ]
        );
        let newest = include_bytes!("../../../../tests/host/samples/net-dev-6.18");
        assert_eq!(read(newest)[0].0, "lo");
        assert_eq!(read(newest).len(), 4);
    }

    #[test]
    fn this_machine_has_an_interface() {
        let mut columns = Columns::default();
        NetDev::open().unwrap().sample(&mut columns);
        assert!(columns.names().iter().any(|name| name == "net.lo.rx_bytes"));
    }

    #[test]
    fn only_interfaces_with_counters_have_their_speed_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        for (interface, speed) in [("eth0", "1000\n"), ("lo", "-1\n"), ("elsewhere", "10000\n")] {
            std::fs::create_dir(path(interface)).unwrap();
            std::fs::write(path(&format!("{interface}/speed")), speed).unwrap();
        }
        let zeros = " 0".repeat(16);
        std::fs::write(path("dev"), format!("lo:{zeros}\neth0:{zeros}\n")).unwrap();
        let mut columns = Columns::default();
        NetDev::of(&path("dev"), &path(""))
            .unwrap()
            .sample(&mut columns);
        let speeds: Vec<_> = columns
            .names()
            .iter()
            .zip(columns.row())
            .filter(|(name, _)| name.ends_with("speed_mbit"))
            .collect();
        assert_eq!(speeds, [(&"net.eth0.speed_mbit".to_owned(), &Some(1000))]);
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(
            name in "[a-z][a-z0-9.@_-]{0,14}", values: [u64; 16], space: bool,
        ) {
            let printed: Vec<String> = values.iter().map(ToString::to_string).collect();
            let space = if space { " " } else { "" };
            let line = format!("{name:>6}:{space}{}", printed.join("  "));
            let mut expected = values[..4].to_vec();
            expected.extend(&values[8..12]);
            let (found, counters) = parse(line.as_bytes()).unwrap();
            prop_assert_eq!(found, name);
            prop_assert_eq!(counters.to_vec(), expected);
        }

        #[test]
        fn nothing_makes_it_panic(line in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = parse(&line);
        }
    }
}

#[cfg(test)]
mod net_speed_tests {
    use super::*;

    #[test]
    fn an_unknown_speed_is_none() {
        assert_eq!(parse_speed("10000\n"), Some(10_000));
        for unknown in ["-1\n", "0\n", "4294967295\n", "", "fast\n"] {
            assert_eq!(parse_speed(unknown), None, "{unknown}");
        }
    }
}
