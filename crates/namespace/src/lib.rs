//! Namespace with a durable edit log: the write path of a name-node.
//!
//! Every mutation is a transaction. It is applied to the [`Tree`] in memory, appended to the log as
//! a record with id, length and CRC32C, and acknowledged when it is durable in every log directory.
//! Group commit shares each sync between many mutations. [`recover`] restores the acknowledged
//! tree; a [`Job`] measures the throughput.

mod batch;
mod chunked_file;
mod copies;
mod directory;
mod error;
mod handler_group;
mod image;
mod job;
mod journal;
mod mutation;
mod namespace;
mod operation;
mod phase;
mod progress;
mod record;
mod recovery;
mod repetition;
mod replay;
mod segment;
mod timed_lock;
mod tree;

pub use copies::WriteOrder;
pub use error::{Damage, Defect, Error, FailedLog, Fault, Findings};
pub use job::{InvalidJob, Job};
pub use journal::LogOptions;
pub use mutation::Mutation;
pub use namespace::Namespace;
pub use operation::Operation;
pub use phase::{Outcome, Phase, run};
pub use progress::{LogStatistics, WaitTimes};
pub use recovery::{Recovery, recover};
pub use repetition::repeat;
pub use segment::SyncPolicy;
pub use tree::{Status, Tree, TreeError};
