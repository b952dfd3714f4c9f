//! `TeraGen`, `TeraSort` and `TeraValidate` on rows of 100 bytes with keys of 10 bytes.
//!
//! Source: Apache Hadoop, `org.apache.hadoop.examples.terasort`; the rows are those of the sort
//! benchmark's `gensort`.

mod chunks;
mod generate;
mod generator;
mod input;
mod merge;
mod plan;
mod random;
mod row;
mod sort;
mod split_points;
mod validate;

pub use generate::{GenerateJob, generate};
pub use plan::InvalidJob;
pub use plan::{Plan, min_memory};
pub use row::{Checksum, ROW_BYTES};
pub use row::{Outcome, SortOutcome};
pub use sort::{SortJob, sort};
pub use split_points::sampled_rows;
pub use validate::{ValidateJob, validate};
