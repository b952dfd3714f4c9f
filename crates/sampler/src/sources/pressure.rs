//! /proc/pressure, and RESOURCE.pressure of a control group: stall times; see
//! Documentation/accounting/psi.rst.

use std::path::{Path, PathBuf};

use crate::columns::Source;
use crate::columns::{Column, Columns};
use crate::proc_file::{ProcFile, number};

/// Resources; `irq` came with 6.1, the others with 4.20.
const RESOURCES: [&str; 4] = ["cpu", "io", "memory", "irq"];

/// All resources, as `pressure.RESOURCE_some` and `pressure.RESOURCE_full` in microseconds, or with
/// `group_pressure.` for a control group.
pub(super) struct Pressure {
    resources: Vec<(ProcFile, [Column; 2])>,
}

impl Pressure {
    /// Open the files of the machine.
    pub(super) fn open(columns: &mut Columns) -> Option<Self> {
        Self::of(
            "pressure",
            |resource| format!("/proc/pressure/{resource}").into(),
            columns,
        )
    }

    /// Open the files of a version 2 control group, which include its descendants.
    pub(super) fn of_group(group: &Path, columns: &mut Columns) -> Option<Self> {
        let file = |resource: &str| group.join(format!("{resource}.pressure"));
        Self::of("group_pressure", file, columns)
    }

    fn of(prefix: &str, file: impl Fn(&str) -> PathBuf, columns: &mut Columns) -> Option<Self> {
        let mut resources = Vec::new();
        for resource in RESOURCES {
            if let Ok(file) = ProcFile::open(file(resource).to_str()?) {
                let names = ["some", "full"].map(|kind| format!("{prefix}.{resource}_{kind}"));
                resources.push((file, names.map(|name| columns.get_or_add(&name))));
            }
        }
        (!resources.is_empty()).then_some(Self { resources })
    }
}

impl Source for Pressure {
    /// Kernels with pressure disabled have the files but refuse reads.
    fn sample(&mut self, columns: &mut Columns) {
        for (file, [some, full]) in &mut self.resources {
            let stall = file.read_lines().map(parse_stall).unwrap_or_default();
            for (column, total) in [(some, stall.some), (full, stall.full)] {
                if let Some(total) = total {
                    columns.put(*column, total);
                }
            }
        }
    }
}

/// Stall time in microseconds of some or of all non-idle tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Stall {
    /// At least one task waited.
    some: Option<u64>,
    /// All tasks waited.
    full: Option<u64>,
}

/// Totals of a pressure file; `None` for missing lines.
fn parse_stall(text: &[u8]) -> Stall {
    Stall {
        some: total(text, b"some "),
        full: total(text, b"full "),
    }
}

fn total(text: &[u8], kind: &[u8]) -> Option<u64> {
    let line = text
        .split(|&byte| byte == b'\n')
        .find_map(|line| line.strip_prefix(kind))?;
    line.split(|&byte| byte == b' ')
        .find_map(|field| number(field.strip_prefix(b"total=")?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_both_lines() {
        let text = b"some avg10=0.00 avg60=0.12 avg300=0.05 total=7123\n\
            full avg10=0.00 avg60=0.00 avg300=0.00 total=42\n";
        assert_eq!(
            parse_stall(text),
            Stall {
                some: Some(7123),
                full: Some(42)
            }
        );
    }

    #[test]
    fn before_linux_5_13_the_processor_has_one_line() {
        let text = b"some avg10=0.00 avg60=0.12 avg300=0.05 total=7123\n";
        assert_eq!(
            parse_stall(text),
            Stall {
                some: Some(7123),
                full: None
            }
        );
    }

    #[test]
    fn pressure_of_a_group_has_columns_of_its_own() {
        let group = tempfile::tempdir().unwrap();
        let mut columns = Columns::default();
        assert!(Pressure::of_group(group.path(), &mut columns).is_none());
        let text = "some avg10=0.00 total=70\nfull avg10=0.00 total=4\n";
        std::fs::write(group.path().join("memory.pressure"), text).unwrap();
        let mut pressure = Pressure::of_group(group.path(), &mut columns).unwrap();
        pressure.sample(&mut columns);
        let names = ["group_pressure.memory_some", "group_pressure.memory_full"];
        assert_eq!(columns.names(), names);
        assert_eq!(columns.row(), [Some(70), Some(4)]);
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(some: u64, full: u64) {
            let text = format!("some avg10=1.00 total={some}\nfull avg10=0.00 total={full}\n");
            let expected = Stall { some: Some(some), full: Some(full) };
            prop_assert_eq!(parse_stall(text.as_bytes()), expected);
        }

        #[test]
        fn nothing_makes_it_panic(text in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = parse_stall(&text);
        }
    }
}
