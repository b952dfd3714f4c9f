//! What single processes have done, and the busiest of what may be very many.

use std::cmp::Reverse;

use super::used::Used;

/// Of each side so many are kept by their bytes, and as many by their CPU time.
const KEPT: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) pid: u32,
    pub(super) name: Vec<u8>,
    pub(super) of_workload: bool,
    pub(super) used: Used,
}

/// Leave those that moved most bytes, and those that took most CPU time.
pub(super) fn keep_busiest(all: &mut Vec<Done>) {
    let (mut workload, mut foreign): (Vec<_>, Vec<_>) =
        all.drain(..).partition(|done| done.of_workload);
    for side in [&mut workload, &mut foreign] {
        side.sort_by_key(|done| Reverse((done.used.bytes(), done.used.ticks)));
        let mut rest = side.split_off(KEPT.min(side.len()));
        rest.sort_by_key(|done| Reverse(done.used.ticks));
        rest.truncate(KEPT);
        all.append(side);
        all.append(&mut rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_are_kept_that_move_much_and_those_that_compute_much() {
        let one = |pid, of_workload, ticks, written| Done {
            pid,
            name: vec![],
            of_workload,
            used: Used {
                ticks,
                written,
                ..Used::default()
            },
        };
        let mut all: Vec<Done> = (0..100).map(|pid| one(pid, true, 7, 1 << 20)).collect();
        all.extend((100..200).map(|pid| one(pid, false, 1, 4096)));
        all.push(one(200, false, 50, 0));
        all.push(one(201, false, 0, 8192));
        keep_busiest(&mut all);
        let foreign: Vec<u32> = (all.iter().filter(|done| !done.of_workload))
            .map(|done| done.pid)
            .collect();
        assert_eq!((all.len(), foreign.len()), (4 * KEPT, 2 * KEPT));
        assert!(foreign.contains(&200) && foreign.contains(&201));
    }
}
