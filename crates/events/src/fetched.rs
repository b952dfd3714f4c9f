//! How many bytes the kernel has fetched from storage for a thread.
//!
//! More than it read where the kernel read ahead into gaps, less where the page cache had them.
//! Source: `read_bytes` of /proc/pid/io, in the kernel's Documentation/filesystems/proc.rst.

use std::fs::read_to_string;

const PATH: &str = "/proc/thread-self/io";

/// What was fetched for this thread since it began; `None` where the kernel does not say.
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
