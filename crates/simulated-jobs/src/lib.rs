//! Jobs of the native workloads as threads of a simulation, and their measurements.
//!
//! Each module turns a job of a native engine into the operations of its threads: the same calls
//! with the same sizes and offsets, in the same dependence. No data exist, so what an engine
//! learns from its data is a model here: the order in which a merge empties its runs, and how many
//! words a text has. Processor times between calls are those of the native engines on one host
//! ([`costs`]).

mod costs;
pub mod event_jobs;
pub mod file_jobs;
mod file_table;
mod merge;
pub mod metadata;
pub mod mrbench;
pub mod terasort;
pub mod wordcount;

pub use file_table::{FileTable, start};
