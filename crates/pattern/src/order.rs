//! Orders: in which order the records of a file are moved.

use std::cell::Cell;
use std::num::NonZeroU64;

use rand_distr::{Distribution, Zipf};

use crate::mix::{Stream, nth};

/// In which order records follow each other. Every order but `Zipf` takes each record exactly once
/// a pass, except `Skip`, which leaves gaps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Order {
    /// From the first to the last.
    Sequential,
    /// From the last to the first.
    Reverse,
    /// Every `step`-th record, then those after them, until all are taken.
    Strided {
        /// In records.
        step: NonZeroU64,
    },
    /// Every `step`-th record once; what lies between is left out.
    Skip {
        /// In records.
        step: NonZeroU64,
    },
    /// Shuffled anew for every pass.
    Random,
    /// Drawn with a frequency that falls with the rank as `rank^-exponent`; ranks are scattered
    /// over the records.
    Zipf {
        /// More than 0; 1 is Zipf's law.
        exponent: f64,
    },
}

/// The positions of an order among `records` records, as a pure function of the index.
#[derive(Debug, Clone)]
pub(crate) struct Positions {
    order: Order,
    records: u64,
    key: u64,
    zipf: Option<Zipf<f64>>,
    shuffle: Cell<Shuffle>,
}

/// What shuffles the records of a pass, kept for the next one of the same pass.
#[derive(Debug, Clone, Copy)]
struct Shuffle {
    pass: u64,
    keys: [u64; 3],
}

impl Shuffle {
    fn new(key: u64, pass: u64) -> Self {
        let own = nth(key, pass);
        let keys = [0, 1, 2].map(|round| nth(own, round));
        Self { pass, keys }
    }
}

impl Positions {
    /// The order's positions among `records`, of which there is at least one.
    #[must_use]
    pub fn new(order: Order, records: NonZeroU64, seed: u64) -> Self {
        #[allow(clippy::cast_precision_loss)] // 2^53 records are more than any disk has
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

    /// How many records make a pass.
    #[must_use]
    pub fn pass(&self) -> u64 {
        match self.order {
            Order::Skip { step } => self.records.div_ceil(step.get()),
            _ => self.records,
        }
    }

    /// Which record comes at `index`, counted over all passes.
    #[must_use]
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

    /// Column by column of a table whose rows are `step` records long; the last row may be short.
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

    /// From 0, the most frequent first.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a rank is a small integer
    fn rank(&self, index: u64) -> u64 {
        let mut draws = Stream::new(nth(self.key, index));
        let rank = self.zipf.map_or(1.0, |zipf| zipf.sample(&mut draws));
        (rank as u64).clamp(1, self.records) - 1
    }

    /// A bijection on the records: multiplying by an odd number and folding the upper bits down
    /// both are bijections on `bits` bits; a result that is no record goes round again (Black and
    /// Rogaway, "Ciphers with arbitrary finite domains", 2002).
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
