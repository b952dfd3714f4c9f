//! Disk drives: mechanics, cache and command queue.

mod access;
mod dirty;
mod geometry;
mod mechanism;
pub mod parameters;
mod read_ahead;
mod seek;
mod segments;
mod shingling;
mod weak;

mod cleaning;
mod decisions;
mod drive;
mod reads;
mod writes;

pub use dirty::Extent;
pub use drive::Disk;
pub use geometry::{Spares, Zone};
