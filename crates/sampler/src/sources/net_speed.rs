//! /sys/class/net/INTERFACE/speed; see Documentation/ABI/testing/sysfs-class-net.

use std::fs;
use std::path::Path;

/// What an interface can carry, in 10**6 bits a second; `folder` is the one that has one for each.
///
/// None for virtual interfaces, which have no speed, and those without a link, which cannot tell it.
pub(super) fn speed_mbit(folder: &Path, interface: &str) -> Option<u64> {
    parse(&fs::read_to_string(folder.join(interface).join("speed")).ok()?)
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
}
