//! Fixed-interval reader of /proc and /sys: what the machine has counted, as columns.
//!
//! A [`Reader`] takes a sample when it is asked to; a [`Sampler`] asks it at a fixed interval, from
//! a thread of its own. Each kind of file has a [`Source`], which names its columns itself; what a
//! kernel does not offer has none, and what is not there at a moment is missing in that sample.

mod columns;
mod mount_path;
mod named;
mod places;
mod proc_file;
mod process;
mod ration;
mod reader;
mod rows;
mod sampler;
mod source;
mod sources;
mod watched;

pub use columns::{Column, Columns};
pub use process::Process;
pub use reader::{Depth, Reader};
pub use rows::Samples;
pub use sampler::Sampler;
pub use source::Source;
pub use watched::Watched;
