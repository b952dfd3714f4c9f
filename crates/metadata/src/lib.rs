//! Metadata operations on directory trees, in timed phases.
//!
//! A [`Job`] is a list of operations, one phase each: every thread applies it to all its files. The
//! next phase starts when the last thread has ended. Paths are relative to the root of a thread's
//! tree, so a path lookup takes as many steps as the tree is deep. Read data, attributes and
//! listings are verified.

mod error;
mod executor;
mod job;
mod layout;
mod listing;
mod operation_timer;
mod phase;
mod remove_tree;
mod repetition;
mod tree_setup;
mod tree_state;

pub use error::{Error, Fault};
pub use job::InvalidJob;
pub use job::Operation;
pub use job::{Job, SyncPolicy};
pub use layout::Layout;
pub use phase::{Phase, run};
pub use remove_tree::remove_tree;
pub use repetition::repeat;
