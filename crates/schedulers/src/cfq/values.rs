//! Tunables of CFQ (specification, section 4.11).

use crate::tunables::{Tunable, TunableTable, Unit};

const MS: i64 = 1_000_000;
const INT_MAX: i64 = i32::MAX as i64;

/// Values of the tunables: times in nanoseconds, distances in sectors.
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
    pub group_idle: i64,
    pub low_latency: i64,
    pub target_latency: i64,
}

impl Values {
    pub const fn new(rotational: bool) -> Self {
        Self {
            quantum: 8,
            fifo_expire_sync: 125 * MS,
            fifo_expire_async: 250 * MS,
            back_seek_max: 2 * 16_384,
            back_seek_penalty: 2,
            slice_sync: 100 * MS,
            slice_async: 40 * MS,
            slice_async_rq: 2,
            slice_idle: if rotational { 8 * MS } else { 0 },
            group_idle: 8 * MS,
            low_latency: 1,
            target_latency: 300 * MS,
        }
    }

    /// Slice of a sync or async queue of a priority level, before scaling.
    pub const fn base_slice(&self, sync: bool, level: u8) -> i64 {
        let base = if sync {
            self.slice_sync
        } else {
            self.slice_async
        };
        base + base / 5 * (4 - level as i64)
    }

    /// Time from the arrival of a request to its deadline.
    pub const fn fifo_expire(&self, sync: bool) -> i64 {
        if sync {
            self.fifo_expire_sync
        } else {
            self.fifo_expire_async
        }
    }
}

const AT_LEAST_0: (i64, i64) = (0, INT_MAX);
const AT_LEAST_1: (i64, i64) = (1, INT_MAX);

pub const TUNABLES: TunableTable<Values> = TunableTable {
    scheduler: "cfq",
    tunables: &[
        Tunable::new("quantum", Unit::Count, AT_LEAST_1, |v| &mut v.quantum),
        Tunable::new("fifo_expire_sync", Unit::Milliseconds, AT_LEAST_1, |v| {
            &mut v.fifo_expire_sync
        }),
        Tunable::new("fifo_expire_async", Unit::Milliseconds, AT_LEAST_1, |v| {
            &mut v.fifo_expire_async
        }),
        Tunable::new("back_seek_max", Unit::Kibibytes, AT_LEAST_0, |v| {
            &mut v.back_seek_max
        }),
        Tunable::new("back_seek_penalty", Unit::Count, AT_LEAST_1, |v| {
            &mut v.back_seek_penalty
        }),
        Tunable::new("slice_sync", Unit::Milliseconds, AT_LEAST_1, |v| {
            &mut v.slice_sync
        }),
        Tunable::new("slice_sync_us", Unit::Microseconds, AT_LEAST_1, |v| {
            &mut v.slice_sync
        }),
        Tunable::new("slice_async", Unit::Milliseconds, AT_LEAST_1, |v| {
            &mut v.slice_async
        }),
        Tunable::new("slice_async_us", Unit::Microseconds, AT_LEAST_1, |v| {
            &mut v.slice_async
        }),
        Tunable::new("slice_async_rq", Unit::Count, AT_LEAST_1, |v| {
            &mut v.slice_async_rq
        }),
        Tunable::new("slice_idle", Unit::Milliseconds, AT_LEAST_0, |v| {
            &mut v.slice_idle
        }),
        Tunable::new("slice_idle_us", Unit::Microseconds, AT_LEAST_0, |v| {
            &mut v.slice_idle
        }),
        Tunable::new("group_idle", Unit::Milliseconds, AT_LEAST_0, |v| {
            &mut v.group_idle
        }),
        Tunable::new("group_idle_us", Unit::Microseconds, AT_LEAST_0, |v| {
            &mut v.group_idle
        }),
        Tunable::new("low_latency", Unit::Count, (0, 1), |v| &mut v.low_latency),
        Tunable::new("target_latency", Unit::Milliseconds, AT_LEAST_1, |v| {
            &mut v.target_latency
        }),
        Tunable::new("target_latency_us", Unit::Microseconds, AT_LEAST_1, |v| {
            &mut v.target_latency
        }),
    ],
};
