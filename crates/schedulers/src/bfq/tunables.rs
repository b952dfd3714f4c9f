//! Tunables of BFQ (specification, section 8.10).

use crate::clock::{Hz, Nanos};
use crate::tunables::{INT_MAX, TunableTable, tunables};

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

pub const TUNABLES: TunableTable<Values> = tunables!("bfq", Values {
    slice_idle: Milliseconds 0..=INT_MAX;
    slice_idle_us in slice_idle: Microseconds 0..=INT_MAX;
    timeout_sync: Jiffies 1..=INT_MAX;
    max_budget: Number 0..=INT_MAX;
    strict_guarantees: Number 0..=1;
    low_latency: Number 0..=1;
    fifo_expire_sync: Milliseconds 1..=INT_MAX;
    fifo_expire_async: Milliseconds 1..=INT_MAX;
    back_seek_max: Kibibytes 0..=INT_MAX;
    back_seek_penalty: Number 1..=INT_MAX;
});
