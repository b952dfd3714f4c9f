//! Tunables of BFQ.

use crate::clock::{Hz, Nanos};
use crate::tunables::{Tunable, TunableTable, Unit};

const LIMIT: i64 = i32::MAX as i64;

/// Values of the tunables: times in nanoseconds, except `timeout_sync` in jiffies.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    pub slice_idle: i64,
    pub timeout_sync: i64,
    pub max_budget: i64,
    pub strict_guarantees: i64,
    pub low_latency: i64,
    pub fifo_expire_sync: i64,
    pub fifo_expire_async: i64,
    pub back_seek_max: i64,
    pub back_seek_penalty: i64,
}

impl Values {
    pub fn new(hz: Hz) -> Self {
        let ms = 1_000_000;
        Self {
            slice_idle: 8 * ms,
            timeout_sync: i64::try_from(hz.over(8)).unwrap_or(i64::MAX),
            max_budget: 0,
            strict_guarantees: 0,
            low_latency: 1,
            fifo_expire_sync: 125 * ms,
            fifo_expire_async: 250 * ms,
            back_seek_max: 2 * 16384,
            back_seek_penalty: 2,
        }
    }

    /// Time of idling for a queue.
    pub const fn slice_idle(&self) -> Nanos {
        self.slice_idle.unsigned_abs()
    }

    /// Time after which a queued request is served out of order.
    pub const fn fifo_expire(&self, sync: bool) -> Nanos {
        if sync {
            self.fifo_expire_sync.unsigned_abs()
        } else {
            self.fifo_expire_async.unsigned_abs()
        }
    }
}

pub static TUNABLES: TunableTable<Values> = TunableTable {
    scheduler: "bfq",
    tunables: &[
        Tunable::new(
            "slice_idle",
            Unit::Milliseconds,
            (0, LIMIT),
            |v: &mut Values| &mut v.slice_idle,
        ),
        Tunable::new("slice_idle_us", Unit::Microseconds, (0, LIMIT), |v| {
            &mut v.slice_idle
        }),
        Tunable::new("timeout_sync", Unit::Jiffies, (1, LIMIT), |v| {
            &mut v.timeout_sync
        }),
        Tunable::new("max_budget", Unit::Sectors, (0, LIMIT), |v| {
            &mut v.max_budget
        }),
        Tunable::new("strict_guarantees", Unit::Count, (0, 1), |v| {
            &mut v.strict_guarantees
        }),
        Tunable::new("low_latency", Unit::Count, (0, 1), |v| &mut v.low_latency),
        Tunable::new("fifo_expire_sync", Unit::Milliseconds, (1, LIMIT), |v| {
            &mut v.fifo_expire_sync
        }),
        Tunable::new("fifo_expire_async", Unit::Milliseconds, (1, LIMIT), |v| {
            &mut v.fifo_expire_async
        }),
        Tunable::new("back_seek_max", Unit::Kibibytes, (0, LIMIT), |v| {
            &mut v.back_seek_max
        }),
        Tunable::new("back_seek_penalty", Unit::Count, (1, LIMIT), |v| {
            &mut v.back_seek_penalty
        }),
    ],
};
