//! Orders in which a workload accesses records.

use std::cell::Cell;
use std::num::NonZeroU64;

use rand_distr::{Distribution, Zipf};

use crate::mix::{Stream, nth};

/// Order of record accesses. A pass accesses each record exactly once, except with `Zipf` (by
/// frequency) and `Skip` (with gaps).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    /// First to last.
    Sequential,
    /// Last to first.
    Reverse,
    /// Every `step`-th record, then the records after them, until all are accessed.
    Strided {
        /// Step in records.
        step: NonZeroU64,
    },
    /// Every `step`-th record once; the records between are skipped.
    Skip {
        /// Step in records.
        step: NonZeroU64,
    },
    /// A new permutation for every pass.
    Random,
    /// Zipf-distributed: the frequency is proportional to `rank^-exponent`. Ranks are scattered
    /// over the records.
    Zipf {
        /// Exponent above 0; 1 is Zipf's law.
        exponent: f64,
    },
}

/// Record positions of an order among `records` records, as a pure function of the index.
#[derive(Debug, Clone)]
pub(crate) struct Positions {
    order: Order,
    records: u64,
    key: u64,
    zipf: Option<Zipf<f64>>,
    shuffle: Cell<Shuffle>,
}

/// Permutation keys of one pass, cached for its next record.
#[derive(Debug, Clone, Copy)]
struct Shuffle {
    pass: u64,
    keys: [u64; 3],
}

impl Shuffle {
    fn new(key: u64, pass: u64) -> Self {
        let pass_key = nth(key, pass);
        let keys = [0, 1, 2].map(|round| nth(pass_key, round));
        Self { pass, keys }
    }
}

impl Positions {
    /// Create the positions of an order among `records` records.
    pub fn new(order: Order, records: NonZeroU64, seed: u64) -> Self {
        #[allow(clippy::cast_precision_loss)] // no disk has 2^53 records
        let zipf = match order {
            Order::Zipf { exponent } => Zipf::new(records.get() as f64, exponent).ok(),
            _ => None,
        };
        Self {
            order,
            records: records.get(),
            key: nth(seed, 0),
            zipf,
            shuffle: Cell::new(Shuffle::new(nth(seed, 0), 0)),
        }
    }

    /// Number of records in a pass.
    pub fn pass(&self) -> u64 {
        match self.order {
            Order::Skip { step } => self.records.div_ceil(step.get()),
            _ => self.records,
        }
    }

    /// Position of the record at `index`, counted over all passes.
    pub fn at(&self, index: u64) -> u64 {
        let pass = self.pass();
        let within = if index < pass { index } else { index % pass };
        match self.order {
            Order::Sequential => within,
            Order::Reverse => self.records - 1 - within,
            Order::Strided { step } => self.strided(within, step.get()),
            Order::Skip { step } => within * step.get(),
            Order::Random => self.shuffled(within, index / pass),
            Order::Zipf { .. } => self.shuffled(self.rank(index), 0),
        }
    }

    /// Column-wise position in a table with rows of `step` records; the last row may be short.
    fn strided(&self, within: u64, step: u64) -> u64 {
        let rows = self.records.div_ceil(step);
        let long_columns = self.records - (rows - 1) * step;
        let in_long = long_columns * rows;
        if within < in_long {
            return within % rows * step + within / rows;
        }
        let (rest, rows) = (within - in_long, rows - 1);
        rest % rows * step + long_columns + rest / rows
    }

    /// Zipf rank from 0, the most frequent first.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a rank is a small integer
    fn rank(&self, index: u64) -> u64 {
        let mut draws = Stream::new(nth(self.key, index));
        let rank = self.zipf.map_or(1.0, |zipf| zipf.sample(&mut draws));
        (rank as u64).clamp(1, self.records) - 1
    }

    /// Bijection on the records by cycle walking (Black and Rogaway, "Ciphers with arbitrary finite
    /// domains", 2002). Multiplication by an odd number and folding down the upper bits are both
    /// bijections on `bits` bits. Results beyond the last record are mapped again.
    fn shuffled(&self, record: u64, pass: u64) -> u64 {
        if self.shuffle.get().pass != pass {
            self.shuffle.set(Shuffle::new(self.key, pass));
        }
        let bits = (u64::BITS - (self.records - 1).leading_zeros()).max(1);
        let mask = u64::MAX >> (u64::BITS - bits);
        let mut value = record;
        loop {
            for key in self.shuffle.get().keys {
                value = value.wrapping_add(key).wrapping_mul(key | 1) & mask;
                value ^= value >> bits.div_ceil(2);
            }
            if value < self.records {
                return value;
            }
        }
    }
}
