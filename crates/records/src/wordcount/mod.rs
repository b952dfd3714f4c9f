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
mod merge_pass;
mod partition;
mod range_scale;
mod reduce;
mod run;
mod spill_files;
mod split;
mod statistics;
mod table;
mod text;
mod thread_memory;
mod tokens;
mod verify;
mod vocabulary;
mod word;
mod word_summary;
mod zipf;

pub use execution::count;
pub use generate::{InvalidTextJob, TextJob, generate};
pub use job::{CountJob, CountResult, InvalidCountJob};
pub use split::{SPLIT_BYTES, TAIL_BYTES, split_ranges};
pub use statistics::{DistinctWords, TextStatistics};
pub use thread_memory::ThreadMemory;
pub use word_summary::WordSummary;
