//! A tree of directories and files with a durable edit log: the write path of a name-node.
//!
//! Every mutation is a transaction: it is done to the [`Tree`] in memory, appended to the log as a
//! record with its number, length and CRC32C, and acknowledged once it is durable in every log
//! directory. Many wait for one sync: a batch gathers while the one before is written. [`recover`]
//! gives the acknowledged tree again; a [`Job`] measures how fast all this is.

mod batch;
mod copies;
mod directory;
mod error;
mod image;
mod job;
mod journal;
mod mutation;
mod namespace;
mod operation;
mod phase;
mod pieces;
mod progress;
mod record;
mod recovery;
mod replay;
mod segment;
mod take;
mod tree;
mod worker;

pub use copies::Order;
pub use error::{Damage, Defect, Dropped, Error, Fault, Findings};
pub use job::{Invalid, Job};
pub use journal::Log;
pub use mutation::Mutation;
pub use namespace::Namespace;
pub use operation::Operation;
pub use phase::{Outcome, Phase, run};
pub use progress::{Done, Waits};
pub use recovery::{Recovered, recover};
pub use segment::Sync;
pub use tree::{Refused, Status, Tree};
