//! /proc/PID/io; see `proc_pid_io(5)`.

use crate::proc_file::number;

/// Bytes read and written by a process and its waited children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PidIo {
    pub(super) read: u64,
    /// Counted when a page becomes dirty.
    pub(super) written: u64,
    /// Part that was never written, because the file was truncated or removed.
    pub(super) cancelled: u64,
}

/// `None` if the format is unknown.
pub(super) fn parse(text: &[u8]) -> Option<PidIo> {
    let of = |name: &[u8]| {
        text.split(|&byte| byte == b'\n')
            .find_map(|line| number(line.strip_prefix(name)?.trim_ascii()))
    };
    Some(PidIo {
        read: of(b"read_bytes:")?,
        written: of(b"write_bytes:")?,
        cancelled: of(b"cancelled_write_bytes:")?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn this_process_may_read_its_own() {
        assert!(parse(&std::fs::read("/proc/self/io").unwrap()).is_some());
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(read: u64, written: u64, cancelled: u64) {
            let text = format!(
                "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: {read}\n\
                 write_bytes: {written}\ncancelled_write_bytes: {cancelled}\n"
            );
            prop_assert_eq!(parse(text.as_bytes()), Some(PidIo { read, written, cancelled }));
        }

        #[test]
        fn nothing_makes_it_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&text);
        }
    }
}
