//! Usage of processes as signed differences, which may be negative for a while; see
//! `process_accounting`.

use std::cmp::Reverse;
use std::ops::{AddAssign, Sub, SubAssign};

use super::pid_io::PidIo;
use super::pid_stat::PidStat;

/// Clock ticks of CPU time, and bytes from and to storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Usage {
    pub(super) ticks: i64,
    pub(super) read: i64,
    pub(super) written: i64,
    pub(super) cancelled: i64,
}

impl Usage {
    /// Usage of a process since its start, with its waited children.
    pub(super) fn since_its_start(stat: &PidStat<'_>, io: Option<PidIo>) -> Self {
        let io = io.unwrap_or_default();
        Self {
            ticks: signed(stat.ticks.wrapping_add(stat.childrens_ticks)),
            read: signed(io.read),
            written: signed(io.written),
            cancelled: signed(io.cancelled),
        }
    }

    pub(super) fn without_io(self) -> Self {
        Self {
            ticks: self.ticks,
            ..Self::default()
        }
    }

    /// Element-wise maximum.
    pub(super) fn max(self, other: Self) -> Self {
        self.with(other, i64::max)
    }

    pub(super) fn bytes(self) -> i64 {
        self.read + self.written
    }

    fn with(self, other: Self, of: impl Fn(i64, i64) -> i64) -> Self {
        Self {
            ticks: of(self.ticks, other.ticks),
            read: of(self.read, other.read),
            written: of(self.written, other.written),
            cancelled: of(self.cancelled, other.cancelled),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        *self = self.with(more, |own, more| own + more);
    }
}

impl Sub for Usage {
    type Output = Self;

    fn sub(self, less: Self) -> Self {
        self.with(less, |own, less| own - less)
    }
}

impl SubAssign for Usage {
    fn sub_assign(&mut self, less: Self) {
        *self = *self - less;
    }
}

/// Convert a counter; the kernel's counters stay below the limit.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

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
mod process_activity_tests {
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
