//! Activity of processes, and selection of the busiest.

use std::cmp::Reverse;

use super::usage::Usage;

/// Number of processes kept per side by bytes, and again by CPU time.
const MAX_KEPT: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessActivity {
    pub(super) pid: u32,
    pub(super) name: Vec<u8>,
    pub(super) is_workload: bool,
    pub(super) usage: Usage,
}

/// Keep the processes with most bytes and most CPU time.
pub(super) fn keep_busiest(all: &mut Vec<ProcessActivity>) {
    let (mut workload, mut foreign): (Vec<_>, Vec<_>) =
        all.drain(..).partition(|done| done.is_workload);
    for side in [&mut workload, &mut foreign] {
        side.sort_by_key(|done| Reverse((done.usage.bytes(), done.usage.ticks)));
        let mut rest = side.split_off(MAX_KEPT.min(side.len()));
        rest.sort_by_key(|done| Reverse(done.usage.ticks));
        rest.truncate(MAX_KEPT);
        all.append(side);
        all.append(&mut rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_are_kept_that_move_much_and_those_that_compute_much() {
        let one = |pid, is_workload, ticks, written| ProcessActivity {
            pid,
            name: vec![],
            is_workload,
            usage: Usage {
                ticks,
                written,
                ..Usage::default()
            },
        };
        let mut all: Vec<ProcessActivity> =
            (0..100).map(|pid| one(pid, true, 7, 1 << 20)).collect();
        all.extend((100..200).map(|pid| one(pid, false, 1, 4096)));
        all.push(one(200, false, 50, 0));
        all.push(one(201, false, 0, 8192));
        keep_busiest(&mut all);
        let foreign: Vec<u32> = (all.iter().filter(|done| !done.is_workload))
            .map(|done| done.pid)
            .collect();
        assert_eq!((all.len(), foreign.len()), (4 * MAX_KEPT, 2 * MAX_KEPT));
        assert!(foreign.contains(&200) && foreign.contains(&201));
    }
}
