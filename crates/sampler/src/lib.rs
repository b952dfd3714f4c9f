//! Sampler of /proc and /sys counters at fixed intervals, as columns.
//!
//! A [`Reader`] takes a sample on request; a [`Sampler`] does so at a fixed interval in its own
//! thread. Each kind of file has a [`Source`], which names its columns. Files that the kernel lacks
//! have no columns; values that are temporarily missing are missing in the sample.

mod columns;
mod cpu_budget;
mod line_cache;
mod mount_path;
mod named_values;
mod proc_file;
mod process;
mod reader;
mod rows;
mod sampler;
mod sources;

pub use columns::Source;
pub use columns::{Column, Columns};
pub use process::Process;
pub use reader::SamplingScope;
pub use reader::{Depth, Reader};
pub use rows::Samples;
pub use sampler::Sampler;
