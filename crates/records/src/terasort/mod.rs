//! Rows of 100 bytes with keys of 10 bytes: `TeraGen`, `TeraSort` and `TeraValidate`.
//!
//! Source: Apache Hadoop, `org.apache.hadoop.examples.terasort`; the rows are those of the sort
//! benchmark's `gensort`.

mod chunks;
mod generate;
mod generator;
mod input;
mod invalid;
mod merge;
mod plan;
mod random;
mod result;
mod row;
mod sample;
mod sort;
mod validate;

pub use generate::{GenerateJob, generate};
pub use invalid::Invalid;
pub use plan::least_memory;
pub use result::{Outcome, Sorted};
pub use row::{Checksum, ROW_BYTES};
pub use sort::{SortJob, sort};
pub use validate::{ValidateJob, validate};
