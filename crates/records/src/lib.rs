//! Records made, sorted, merged and checked within a memory limit.
//!
//! Every kind of record has a module of its own; files, spills, merging and errors are shared.

mod buffer;
mod error;
mod file;
mod folder;
mod loser_tree;
mod meter;
mod phases;
mod reader;
mod sort;
mod spill;
pub mod terasort;
pub mod wordcount;
mod writer;

pub use error::{Error, Fault};
pub use meter::Calls;
