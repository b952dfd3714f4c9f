//! Access patterns and contents of records.
//!
//! An [`Order`] is the order in which a workload accesses the records of a [`Layout`]. A
//! [`RecordSequence`] returns the record at any index of that order. [`Content`] generates the
//! bytes of any record as a pure function of seed, file and offset, and finds the first byte that
//! differs.

mod buffer;
mod content;
mod mix;
mod order;
mod record_sequence;

pub use buffer::{AlignedBuffer, PAGE_BYTES};
pub use content::Content;
pub use mix::{Stream, nth};
pub use order::Order;
pub use record_sequence::{Layout, Record, RecordSequence};
