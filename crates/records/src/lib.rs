//! Generation, sorting, counting and verification of records within a memory limit.
//!
//! Every kind of record has its own module; files, spills, merging and errors are shared.

mod error;
mod file;
mod folder;
mod loser_tree;
mod meter;
mod phase_runner;
mod reader;
mod sort;
mod spill_folders;
pub mod terasort;
pub mod wordcount;
mod writer;

pub use error::{Error, Fault};
pub use file::MAX_CALL_BYTES;
pub use folder::{MAP_PART, REDUCE_PART, part_name};
pub use meter::CallStats;
pub use reader::read_calls;
pub use writer::write_calls;
