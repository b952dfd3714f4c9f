//! Tunables of the anticipatory scheduler (specification, section 3.8).

use crate::clock::{Hz, Jiffies};
use crate::tunables::{INT_MAX, TunableTable, tunables};

/// Values of the tunables in jiffies.
#[expect(clippy::struct_field_names, reason = "the names of the tunables")]
#[derive(Clone, Copy, Debug)]
pub struct Values {
    pub read_expire: i64,
    pub write_expire: i64,
    pub antic_expire: i64,
    pub read_batch_expire: i64,
    pub write_batch_expire: i64,
}

impl Values {
    pub fn new(hz: Hz) -> Self {
        let over = |divisor| i64::try_from(hz.over(divisor)).expect("a small number");
        Self {
            read_expire: over(8),
            write_expire: over(4),
            antic_expire: over(150).max(1),
            read_batch_expire: over(2),
            write_batch_expire: over(8),
        }
    }

    /// Deadline and check interval of the sync or async FIFO.
    pub const fn expire(&self, sync: bool) -> Jiffies {
        let value = if sync {
            self.read_expire
        } else {
            self.write_expire
        };
        value.unsigned_abs()
    }

    /// Length of a sync or async batch.
    pub const fn batch_expire(&self, sync: bool) -> Jiffies {
        let value = if sync {
            self.read_batch_expire
        } else {
            self.write_batch_expire
        };
        value.unsigned_abs()
    }

    pub const fn antic_expire(&self) -> Jiffies {
        self.antic_expire.unsigned_abs()
    }
}

pub const TUNABLES: TunableTable<Values> = tunables!("anticipatory", Values {
    read_expire: Jiffies 0..=INT_MAX;
    write_expire: Jiffies 0..=INT_MAX;
    antic_expire: Jiffies 0..=INT_MAX;
    read_batch_expire: Jiffies 0..=INT_MAX;
    write_batch_expire: Jiffies 0..=INT_MAX;
});
