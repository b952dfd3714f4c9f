//! Flash drives: channels, dies, write buffer, SLC cache and garbage collection.

mod die;
mod drive;
pub mod parameters;
mod slc;

pub use drive::Flash;
