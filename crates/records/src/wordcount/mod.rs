//! Word counting as in Hadoop's `WordCount`, and generation of input text.
//!
//! Each thread counts the words of splits in its own table, and spills a full table as a sorted
//! run. All runs are merged into one part per reducer. Memory use does not depend on the text size.
//!
//! Source: Apache Hadoop, `org.apache.hadoop.examples.WordCount`.

mod count;
mod cursor;
mod execution;
mod generate;
mod job;
mod merge;
mod partition;
mod run;
mod split;
mod statistics;
mod table;
mod text;
mod tokens;
mod verify;
mod vocabulary;
mod word;
mod zipf;

pub use execution::count;
pub use generate::{InvalidTextJob, TextJob, generate};
pub use job::ThreadMemory;
pub use job::{CountJob, CountResult, InvalidCountJob};
pub use merge::MIN_BUFFER_BYTES;
pub use split::{SPLIT_BYTES, TAIL_BYTES, split_ranges};
pub use statistics::{DistinctWords, TextStatistics};
pub use word::WordSummary;
