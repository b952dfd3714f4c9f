//! /sys/class/net/INTERFACE/speed; see Documentation/ABI/testing/sysfs-class-net.

use std::fs;

use crate::columns::Columns;
use crate::source::Source;

const INTERFACES: &str = "/sys/class/net";

/// What each interface can carry, as `net.INTERFACE.speed_mbit`, in 10**6 bits a second.
pub(super) struct NetSpeed;

impl Source for NetSpeed {
    /// Virtual interfaces have no speed, and those without a link cannot tell it.
    fn sample(&mut self, columns: &mut Columns) {
        for entry in fs::read_dir(INTERFACES).into_iter().flatten().flatten() {
            let speed = fs::read_to_string(entry.path().join("speed"));
            if let Some(mbit) = speed.ok().and_then(|text| parse(&text)) {
                let name = entry.file_name();
                let column = columns.named(&format!("net.{}.speed_mbit", name.to_string_lossy()));
                columns.put(column, mbit);
            }
        }
    }
}

/// None if it is not known: 0, -1, or the largest number of 32 bits on old kernels.
fn parse(text: &str) -> Option<u64> {
    let mbit: u64 = text.trim_end().parse().ok()?;
    (mbit > 0 && mbit < u64::from(u32::MAX)).then_some(mbit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_speed_is_none() {
        assert_eq!(parse("10000\n"), Some(10_000));
        for unknown in ["-1\n", "0\n", "4294967295\n", "", "fast\n"] {
            assert_eq!(parse(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn only_interfaces_that_tell_have_a_column() {
        let mut columns = Columns::default();
        NetSpeed.sample(&mut columns);
        assert!(columns.row().iter().all(Option::is_some));
    }
}
