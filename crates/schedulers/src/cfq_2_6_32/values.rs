//! Tunables of CFQ in Linux 2.6.32 (specification, sections 4.11 and 4.12).

use crate::clock::Hz;
use crate::tunables::{Tunable, TunableTable, Unit};

const INT_MAX: i64 = i32::MAX as i64;
const AT_LEAST_0: (i64, i64) = (0, INT_MAX);
const AT_LEAST_1: (i64, i64) = (1, INT_MAX);

/// Values of the tunables: times in jiffies, distances in sectors.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    pub quantum: i64,
    pub fifo_expire_sync: i64,
    pub fifo_expire_async: i64,
    pub back_seek_max: i64,
    pub back_seek_penalty: i64,
    pub slice_sync: i64,
    pub slice_async: i64,
    pub slice_async_rq: i64,
    pub slice_idle: i64,
    pub low_latency: i64,
}

impl Values {
    pub fn new(hz: Hz) -> Self {
        let over = |divisor| i64::try_from(hz.over(divisor)).expect("a small number");
        Self {
            quantum: 4,
            fifo_expire_sync: over(8),
            fifo_expire_async: over(4),
            back_seek_max: 2 * 16_384,
            back_seek_penalty: 2,
            slice_sync: over(10),
            slice_async: over(25),
            slice_async_rq: 2,
            slice_idle: over(125).max(1),
            low_latency: 1,
        }
    }

    /// Slice of a sync or async queue of a priority level.
    pub const fn slice(&self, sync: bool, level: u8) -> i64 {
        let base = if sync {
            self.slice_sync
        } else {
            self.slice_async
        };
        base + base / 5 * (4 - level as i64)
    }
}

pub const TUNABLES: TunableTable<Values> = TunableTable {
    scheduler: "cfq",
    tunables: &[
        Tunable::new("quantum", Unit::Count, AT_LEAST_1, |v| &mut v.quantum),
        Tunable::new("fifo_expire_sync", Unit::Jiffies, AT_LEAST_1, |v| {
            &mut v.fifo_expire_sync
        }),
        Tunable::new("fifo_expire_async", Unit::Jiffies, AT_LEAST_1, |v| {
            &mut v.fifo_expire_async
        }),
        Tunable::new("back_seek_max", Unit::Kibibytes, AT_LEAST_0, |v| {
            &mut v.back_seek_max
        }),
        Tunable::new("back_seek_penalty", Unit::Count, AT_LEAST_1, |v| {
            &mut v.back_seek_penalty
        }),
        Tunable::new("slice_sync", Unit::Jiffies, AT_LEAST_1, |v| {
            &mut v.slice_sync
        }),
        Tunable::new("slice_async", Unit::Jiffies, AT_LEAST_1, |v| {
            &mut v.slice_async
        }),
        Tunable::new("slice_async_rq", Unit::Count, AT_LEAST_1, |v| {
            &mut v.slice_async_rq
        }),
        Tunable::new("slice_idle", Unit::Jiffies, AT_LEAST_0, |v| {
            &mut v.slice_idle
        }),
        Tunable::new("low_latency", Unit::Count, (0, 1), |v| &mut v.low_latency),
    ],
};
