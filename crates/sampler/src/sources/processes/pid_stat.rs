//! /proc/PID/stat and /proc/PID/task/TID/stat, which share a format; see `proc_pid_stat(5)`.

use crate::proc_file::{fields, number};

/// `PF_KTHREAD` in the kernel's include/linux/sched.h.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// Number of fields after the name, from field 3 to `starttime`.
const FIELDS: usize = 20;

/// Parsed file; times are in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PidStat<'a> {
    pub(super) pid: u32,
    /// Name: up to 15 arbitrary bytes.
    pub(super) name: &'a [u8],
    pub(super) state: u8,
    pub(super) parent: u32,
    pub(super) is_kernel_thread: bool,
    /// Minor page faults, own and of waited children.
    pub(super) faults: u64,
    pub(super) childrens_faults: u64,
    /// User and system time, own and of waited children.
    pub(super) ticks: u64,
    pub(super) childrens_ticks: u64,
    /// Start time since boot; with the pid it identifies a process.
    pub(super) started: u64,
}

/// `None` if the format is unknown.
pub(super) fn parse(text: &[u8]) -> Option<PidStat<'_>> {
    // The name may contain blanks and brackets and ends at the last bracket.
    let open = text.iter().position(|&byte| byte == b'(')?;
    let close = text.iter().rposition(|&byte| byte == b')')?;
    let pid = number(text[..open].trim_ascii())?;
    let name = text.get(open + 1..close)?;
    let mut found = [&b""[..]; FIELDS];
    let mut rest = fields(text[close + 1..].trim_ascii_end());
    for field in &mut found {
        *field = rest.next()?;
    }
    let of = |field: usize| number(found[field - 3]);
    Some(PidStat {
        pid: u32::try_from(pid).ok()?,
        name,
        state: *found[0].first()?,
        parent: u32::try_from(of(4)?).ok()?,
        is_kernel_thread: of(9)? & KERNEL_THREAD != 0,
        faults: of(10)?,
        childrens_faults: of(11)?,
        ticks: of(14)?.wrapping_add(of(15)?),
        childrens_ticks: of(16)?.wrapping_add(of(17)?),
        started: of(22)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_a_process_as_the_kernel_prints_it() {
        let text = b"812 (updatedb.mlocat) D 1 812 812 0 -1 4194304 757 6540 2 0 51 152 7 9 39 19 1 0 4411 8 9\n";
        let expected = PidStat {
            pid: 812,
            name: b"updatedb.mlocat",
            state: b'D',
            parent: 1,
            is_kernel_thread: false,
            faults: 757,
            childrens_faults: 6540,
            ticks: 203,
            childrens_ticks: 16,
            started: 4411,
        };
        assert_eq!(parse(text), Some(expected));
    }

    #[test]
    fn this_thread_is_one_and_kthreadd_is_the_kernels() {
        let own = std::fs::read("/proc/thread-self/stat").unwrap();
        let own = parse(&own).unwrap();
        assert_eq!((own.state, own.is_kernel_thread), (b'R', false));
        let kernels = b"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 3 0 0 20 0 1 0 1 0\n";
        assert!(parse(kernels).unwrap().is_kernel_thread);
    }

    proptest! {
        #[test]
        fn whatever_the_name_holds_is_the_name(
            name in proptest::collection::vec(any::<u8>(), 0..16),
            pid: u32, parent: u32, started: u64,
            numbers in proptest::collection::vec(0..u64::MAX / 2, 17),
            more in "( [0-9]{1,20}){0,30}",
        ) {
            let printed: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let mut text = format!("{pid} (").into_bytes();
            text.extend_from_slice(&name);
            let rest = format!(") S {parent} {} {started}{more}\n", printed.join(" "));
            text.extend_from_slice(rest.as_bytes());
            let found = parse(&text).unwrap();
            prop_assert_eq!((found.pid, found.parent, found.started), (pid, parent, started));
            prop_assert_eq!(found.name, &name[..]);
            prop_assert_eq!(found.faults, numbers[5]);
            prop_assert_eq!(found.ticks, numbers[9] + numbers[10]);
            prop_assert_eq!(found.childrens_ticks, numbers[11] + numbers[12]);
        }

        #[test]
        fn nothing_makes_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&text);
        }

        #[test]
        fn nothing_numeric_makes_it_panic(text in "[0-9]{1,5} \\([()a ]{0,9}\\) R( [0-9-]{1,20}){0,25}") {
            let _ = parse(text.as_bytes());
        }
    }
}
