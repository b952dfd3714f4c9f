//! Words counted as Hadoop's `WordCount` does, and text to count them in.
//!
//! Each thread reads splits, counts their words in a table of its own, and spills the table as a
//! sorted run when it is full; all runs are merged into one part per reducer. Nothing grows with
//! the texts but the spill files.
//!
//! Source: Apache Hadoop, `org.apache.hadoop.examples.WordCount`.

mod below;
mod carry_out;
mod count;
mod cursor;
mod generate;
mod job;
mod memory;
mod merge;
mod pass;
mod reduce;
mod reducer;
mod run;
mod spills;
mod split;
mod table;
mod tally;
mod text;
mod tokens;
mod verify;
mod vocabulary;
mod word;
mod zipf;

pub use carry_out::count;
pub use generate::{InvalidText, TextJob, generate};
pub use job::{CountJob, CountResult, Invalid};
pub use tally::Tally;
