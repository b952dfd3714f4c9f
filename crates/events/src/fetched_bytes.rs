//! Bytes that the kernel fetched from storage for a thread.
//!
//! Read-ahead into gaps makes it larger than the bytes read; page cache hits make it smaller.
//! Source: `read_bytes` of /proc/pid/io in the kernel's Documentation/filesystems/proc.rst.

use std::fs::read_to_string;

const PATH: &str = "/proc/thread-self/io";

/// Bytes fetched for this thread since it started; `None` where the kernel has no I/O accounting.
pub(crate) fn fetched_bytes() -> Option<u64> {
    parse(&read_to_string(PATH).ok()?)
}

fn parse(text: &str) -> Option<u64> {
    let value = |line: &str| line.strip_prefix("read_bytes:")?.trim().parse().ok();
    text.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_line_is_found_among_the_others() {
        let text = "rchar: 1\nsyscr: 3\nread_bytes: 4096\nwrite_bytes: 5\n";
        assert_eq!(parse(text), Some(4096));
        assert_eq!(parse("rchar: 1\n"), None);
        assert_eq!(parse("read_bytes: many\n"), None);
    }
}
