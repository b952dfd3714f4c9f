//! Usage of processes as signed differences, which may be negative for a while; see
//! `process_accounting`.

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
