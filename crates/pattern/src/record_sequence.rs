//! Sequence of records over several files of equal size.

use std::num::NonZeroU64;

use crate::order::{Order, Positions};

/// Part of a file that one system call transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Byte offset in the file.
    pub offset: u64,
    /// Length in bytes.
    pub len: usize,
}

/// Placement of the records in the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Number of files.
    pub files: usize,
    /// Offset of the first record in each file.
    pub begin: u64,
    /// Bytes per file that the records cover; the last record may be short.
    pub bytes: u64,
    /// Record size in bytes.
    pub record_bytes: usize,
}

/// Records of a layout in a given order, as a pure function of the index.
#[derive(Debug, Clone)]
pub struct RecordSequence {
    layout: Layout,
    records_per_file: u64,
    positions: Positions,
}

impl RecordSequence {
    /// Create the sequence of `order` over `layout`; random orders depend on `seed`.
    ///
    /// # Panics
    ///
    /// If the layout has no file, no bytes, or empty records.
    pub fn new(layout: Layout, order: Order, seed: u64) -> Self {
        let records_per_file = layout.bytes.div_ceil(layout.record_bytes as u64);
        let records = NonZeroU64::new(records_per_file * layout.files as u64);
        Self {
            layout,
            records_per_file,
            positions: Positions::new(order, records.expect("there are records"), seed),
        }
    }

    /// Number of records in a pass.
    pub fn pass(&self) -> u64 {
        self.positions.pass()
    }

    /// File index and record at `index`, counted over all passes.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // less than `files`, which is a usize
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
