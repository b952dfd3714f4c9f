//! Which record comes next, and what it holds.
//!
//! An *order* is an iterator of [`Record`]s: [`sequential`] today; reverse, strided or random ones
//! are further functions that return such an iterator. [`Content`] gives the bytes of any record
//! as a pure function of seed, file and offset, and finds the first byte that differs from it.

mod buffer;
mod content;
mod mix;
mod order;

pub use buffer::{AlignedBuffer, PAGE_BYTES};
pub use content::Content;
pub use order::{Record, sequential};
