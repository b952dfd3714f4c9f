//! Tunables of CFQ (specification, sections 4.11 and 4.12).

use crate::clock::Hz;
use crate::tunables::{INT_MAX, TunableTable, tunables};

const MS: i64 = 1_000_000;

/// Values of the tunables: times in nanoseconds, or in jiffies in 2.6.32; distances in sectors.
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
    /// Absent in 2.6.32, as is the target.
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

    /// The values of 2.6.32.
    pub fn of_2_6_32(hz: Hz) -> Self {
        let over = |divisor| i64::try_from(hz.over(divisor)).expect("a small number");
        Self {
            quantum: 4,
            fifo_expire_sync: over(8),
            fifo_expire_async: over(4),
            slice_sync: over(10),
            slice_async: over(25),
            slice_idle: over(125).max(1),
            group_idle: 0,
            target_latency: 0,
            ..Self::new(true)
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
    pub const fn fifo_expire(&self, sync: bool) -> u64 {
        let time = if sync {
            self.fifo_expire_sync
        } else {
            self.fifo_expire_async
        };
        time.unsigned_abs()
    }
}

pub const TUNABLES: TunableTable<Values> = tunables!("cfq", Values {
    quantum: Number 1..=INT_MAX;
    fifo_expire_sync: Milliseconds 1..=INT_MAX;
    fifo_expire_async: Milliseconds 1..=INT_MAX;
    back_seek_max: Kibibytes 0..=INT_MAX;
    back_seek_penalty: Number 1..=INT_MAX;
    slice_sync: Milliseconds 1..=INT_MAX;
    slice_sync_us in slice_sync: Microseconds 1..=INT_MAX;
    slice_async: Milliseconds 1..=INT_MAX;
    slice_async_us in slice_async: Microseconds 1..=INT_MAX;
    slice_async_rq: Number 1..=INT_MAX;
    slice_idle: Milliseconds 0..=INT_MAX;
    slice_idle_us in slice_idle: Microseconds 0..=INT_MAX;
    group_idle: Milliseconds 0..=INT_MAX;
    group_idle_us in group_idle: Microseconds 0..=INT_MAX;
    low_latency: Number 0..=1;
    target_latency: Milliseconds 1..=INT_MAX;
    target_latency_us in target_latency: Microseconds 1..=INT_MAX;
});

pub const TUNABLES_OF_2_6_32: TunableTable<Values> = tunables!("cfq", Values {
    quantum: Number 1..=INT_MAX;
    fifo_expire_sync: Jiffies 1..=INT_MAX;
    fifo_expire_async: Jiffies 1..=INT_MAX;
    back_seek_max: Kibibytes 0..=INT_MAX;
    back_seek_penalty: Number 1..=INT_MAX;
    slice_sync: Jiffies 1..=INT_MAX;
    slice_async: Jiffies 1..=INT_MAX;
    slice_async_rq: Number 1..=INT_MAX;
    slice_idle: Jiffies 0..=INT_MAX;
    low_latency: Number 0..=1;
});
