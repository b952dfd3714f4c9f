//! /proc/pressure: time in which work stood still; see Documentation/accounting/psi.rst.

use crate::proc_file::number;

/// What is sampled: some or all tasks waiting for a resource.
pub const PRESSURES: [&str; 5] = [
    "cpu_some",
    "io_some",
    "io_full",
    "memory_some",
    "memory_full",
];

/// Microseconds stalled so far, one value for each of [`PRESSURES`], None where unknown.
pub type Pressures = [Option<u64>; PRESSURES.len()];

/// Microseconds in which some, and in which all tasks that were not idle waited for a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stall {
    /// At least one task waited.
    pub some: Option<u64>,
    /// No task could go on.
    pub full: Option<u64>,
}

/// The totals in a file of /proc/pressure; None for a line that is not there.
#[must_use]
pub fn parse_stall(text: &[u8]) -> Stall {
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
