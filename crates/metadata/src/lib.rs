//! Phases of metadata operations on a tree of directories, by threads that start together.
//!
//! A [`Job`] is a list of operations, each of them a phase: every thread does it to all its files,
//! and the next phase begins when the last thread has ended. Names lie below the directory of a
//! thread's tree, which it holds open, so that a path costs the kernel as many look-ups as the tree
//! is deep. What is read, stat-ed or listed is compared with what was made.

mod error;
mod hands;
mod item_path;
mod job;
mod laps;
mod layout;
mod listing;
mod operation;
mod phase;
mod remove;
mod stock;
mod tree;

pub use error::{Error, Fault};
pub use job::{Invalid, Job, Sync};
pub use operation::Operation;
pub use phase::{Phase, run};
pub use remove::remove_tree;
