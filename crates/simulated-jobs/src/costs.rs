//! Processor times of the native engines, in nanoseconds.
//!
//! Medians of three runs on one host, with one thread and all files in memory; docs/simulator.md
//! has the circumstances. Those of rows and words are without the calls and the copying of pages,
//! which the simulated host counts: merging and verifying rows takes no more than that.

use iostudy_schedulers::Nanos;

/// A row that is generated.
pub const GENERATE_ROW: Nanos = 13;
/// A row that is sorted in a chunk.
pub const SORT_ROW: Nanos = 31;

/// A word that is found in the text and counted.
pub const COUNT_WORD: Nanos = 14;
/// A different word that is sorted and written to a run.
pub const SPILL_WORD: Nanos = 48;
/// A word of a run that is merged.
pub const MERGE_WORD: Nanos = 60;

/// A file that is created and closed.
pub const CREATE: Nanos = 19_000;
/// A file that is opened, read to its end and closed.
pub const OPEN_READ: Nanos = 3_800;
/// Attributes of a file that are read.
pub const STAT: Nanos = 1_100;
/// An entry of a directory that is read; an assumption, not measured.
pub const LIST_ENTRY: Nanos = 100;
/// A file that gets another name.
pub const RENAME: Nanos = 18_500;
/// A file that is removed.
pub const DELETE: Nanos = 9_900;
/// A directory that is made.
pub const MKDIR: Nanos = 28_000;
/// A directory that is removed.
pub const RMDIR: Nanos = 15_500;

/// A process that the job starts before the next one.
pub const LAUNCH_TASK: Nanos = 190_000;
/// A process of a task, from its start to its first line.
pub const START_TASK: Nanos = 7_400_000;
/// A process of a task, from its last line to the notice of its end.
pub const END_TASK: Nanos = 2_200_000;
/// A small file that is opened, read and closed by a task.
pub const READ_SMALL: Nanos = 9_000;
