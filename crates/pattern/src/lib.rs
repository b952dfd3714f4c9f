//! Which record comes next, and what it holds.
//!
//! An [`Order`] says in which order the records of a [`Layout`] are taken; a [`Walk`] gives the
//! record at any index of it. [`Content`] gives the bytes of any record as a pure function of seed,
//! file and offset, and finds the first byte that differs from it.

mod buffer;
mod content;
mod mix;
mod order;
mod walk;

pub use buffer::{AlignedBuffer, PAGE_BYTES};
pub use content::Content;
pub use mix::{Stream, nth};
pub use order::Order;
pub use walk::{Layout, Record, Walk};
