//! The records of several files of equal size as one row, taken in some order.

use std::num::NonZeroU64;

use crate::order::{Order, Positions};

/// A piece of a file that one system call moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// How many bytes it has.
    pub len: usize,
}

/// Where the records lie: in how many files, from which byte of each, over how many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// How many files.
    pub files: usize,
    /// Where in each file the first record begins.
    pub begin: u64,
    /// Over how many bytes of each file the records go; the last record is short if need be.
    pub bytes: u64,
    /// How long a record is.
    pub record_bytes: usize,
}

/// A layout with an order: which record comes at which index, as a pure function.
#[derive(Debug, Clone)]
pub struct Walk {
    layout: Layout,
    records_per_file: u64,
    positions: Positions,
}

impl Walk {
    /// The walk of that order over the layout; random ones depend on `seed`.
    ///
    /// # Panics
    ///
    /// If the layout has no file, no bytes, or records of no bytes.
    #[must_use]
    pub fn new(layout: Layout, order: Order, seed: u64) -> Self {
        let records_per_file = layout.bytes.div_ceil(layout.record_bytes as u64);
        let records = NonZeroU64::new(records_per_file * layout.files as u64);
        Self {
            layout,
            records_per_file,
            positions: Positions::new(order, records.expect("there are records"), seed),
        }
    }

    /// How many records make a pass.
    #[must_use]
    pub fn pass(&self) -> u64 {
        self.positions.pass()
    }

    /// The file, from 0, and the record that come at `index`, counted over all passes.
    #[must_use]
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // there are fewer than `files`, which is a usize
    pub fn at(&self, index: u64) -> (usize, Record) {
        let position = self.positions.at(index);
        let (file, within) = if self.layout.files == 1 {
            (0, position)
        } else {
            (
                position / self.records_per_file,
                position % self.records_per_file,
            )
        };
        let start = within * self.layout.record_bytes as u64;
        let left = usize::try_from(self.layout.bytes - start).unwrap_or(usize::MAX);
        let record = Record {
            offset: self.layout.begin + start,
            len: left.min(self.layout.record_bytes),
        };
        (file as usize, record)
    }
}
