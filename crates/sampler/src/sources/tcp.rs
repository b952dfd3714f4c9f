//! /proc/net/snmp and /proc/net/netstat: TCP retransmissions; see RFC 4022 and
//! `Documentation/networking/snmp_counter.rst`.

use crate::columns::Source;
use crate::columns::{Column, Columns};
use crate::proc_file::{ProcFile, fields, number};

/// Table specification: file, line prefix, and columns by kernel name.
struct TableSpec {
    path: &'static str,
    start: &'static [u8],
    columns: &'static [(&'static str, &'static str)],
}

const SNMP: TableSpec = TableSpec {
    path: "/proc/net/snmp",
    start: b"Tcp:",
    columns: &[
        ("InSegs", "tcp.in_segments"),
        ("OutSegs", "tcp.out_segments"),
        ("RetransSegs", "tcp.retransmitted"),
    ],
};
const NETSTAT: TableSpec = TableSpec {
    path: "/proc/net/netstat",
    start: b"TcpExt:",
    columns: &[("TCPTimeouts", "tcp.timeouts")],
};

/// TCP segments of this network namespace, as `tcp.COUNTER`.
pub(super) struct Tcp {
    files: Vec<Table>,
}

/// File with a line of names before a line of values.
struct Table {
    file: ProcFile,
    start: &'static [u8],
    /// Column of each value, if it is selected.
    columns: Vec<Option<Column>>,
}

impl Tcp {
    pub(super) fn open(columns: &mut Columns) -> Option<Self> {
        let files: Vec<Table> = [SNMP, NETSTAT]
            .iter()
            .filter_map(|spec| Table::open(spec.path, spec, columns))
            .collect();
        (!files.is_empty()).then_some(Self { files })
    }
}

impl Source for Tcp {
    fn sample(&mut self, columns: &mut Columns) {
        for table in &mut self.files {
            table.sample(columns);
        }
    }
}

impl Table {
    /// Open the table; the names are fixed while the kernel runs.
    fn open(path: &str, spec: &TableSpec, columns: &mut Columns) -> Option<Self> {
        let mut file = ProcFile::open(path).ok()?;
        let [names, _] = lines(file.read().ok()?, spec.start)?;
        let column = |name: &[u8]| {
            let mut known = spec.columns.iter();
            let (_, column) = known.find(|(own, _)| own.as_bytes() == name)?;
            Some(columns.get_or_add(column))
        };
        let columns = fields(names).map(column).collect();
        Some(Self {
            file,
            start: spec.start,
            columns,
        })
    }

    fn sample(&mut self, columns: &mut Columns) {
        let text = self.file.read().ok();
        let Some([_, values]) = text.and_then(|text| lines(text, self.start)) else {
            return;
        };
        for (column, value) in self.columns.iter().zip(fields(values)) {
            if let (Some(column), Some(value)) = (column, number(value)) {
                columns.put(*column, value);
            }
        }
    }
}

/// Names and values after the prefix `start`.
fn lines<'a>(text: &'a [u8], start: &[u8]) -> Option<[&'a [u8]; 2]> {
    let mut lines = text
        .split(|&byte| byte == b'\n')
        .filter_map(|line| line.strip_prefix(start));
    Some([lines.next()?, lines.next()?])
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    /// Values of a file with this text, by name.
    fn read(text: &[u8], spec: &TableSpec) -> Vec<(String, u64)> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        let mut columns = Columns::default();
        let path = file.path().to_str().unwrap();
        if let Some(mut table) = Table::open(path, spec, &mut columns) {
            table.sample(&mut columns);
        }
        let row = columns.row().iter().copied();
        let values = columns.names().iter().cloned().zip(row);
        values
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    #[test]
    fn what_a_kernel_shows_is_read() {
        let snmp = include_bytes!("../../../../tests/host/samples/net-snmp-2.6.32");
        let expected = [
            ("tcp.in_segments".to_owned(), 7_012),
            ("tcp.out_segments".to_owned(), 6_001),
            ("tcp.retransmitted".to_owned(), 13),
        ];
        assert_eq!(read(snmp, &SNMP), expected);
        let netstat = include_bytes!("../../../../tests/host/samples/net-netstat-6.18");
        let [(name, _)] = &read(netstat, &NETSTAT)[..] else {
            panic!("one value")
        };
        assert_eq!(name, "tcp.timeouts");
    }

    #[test]
    fn every_column_has_a_value_on_this_machine() {
        let mut columns = Columns::default();
        Tcp::open(&mut columns).unwrap().sample(&mut columns);
        assert_eq!(columns.names().len(), 4);
        assert!(columns.row().iter().all(Option::is_some));
    }

    const TWO_OF_THREE: TableSpec = TableSpec {
        path: "",
        start: b"Tcp:",
        columns: &[("A", "a"), ("C", "c")],
    };

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(values: [u64; 3]) {
            let [one, two, three] = values;
            let text = format!("Ip: A B\nIp: 1 2\nTcp: A B C\nTcp: {one} {two} {three}\n");
            let read = read(text.as_bytes(), &TWO_OF_THREE);
            prop_assert_eq!(read, [("a".to_owned(), one), ("c".to_owned(), three)]);
        }

        #[test]
        fn nothing_makes_it_panic(text in proptest::collection::vec(any::<u8>(), 0..100)) {
            let text = [b"Tcp:", &text[..], b"\nTcp: 1 2"].concat();
            let _ = read(&text, &TWO_OF_THREE);
        }
    }
}
