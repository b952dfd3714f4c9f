//! /sys/class/net/INTERFACE/speed; see Documentation/ABI/testing/sysfs-class-net.

use std::fs;
use std::path::Path;

/// Link speed of an interface in 10**6 bits per second; `folder` contains one folder per interface.
///
/// `None` for virtual interfaces and for those without a link.
pub(super) fn speed_mbit(folder: &Path, interface: &str) -> Option<u64> {
    parse(&fs::read_to_string(folder.join(interface).join("speed")).ok()?)
}

/// `None` if unknown: 0, -1, or the largest 32-bit number on old kernels.
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
}
