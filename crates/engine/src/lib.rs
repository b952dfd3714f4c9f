//! I/O engine: threads that read and write the records of files.
//!
//! [`run`] runs a [`Job`] and returns a [`JobResult`] or the first [`Error`], after every thread
//! has ended. A thread opens its files and takes requests from its request source. Its backend
//! transfers each record, and its meter records the latency. No thread starts before all have
//! allocated their buffers, so that only I/O is timed.

mod backend;
mod control;
mod error;
mod fallback;
mod files;
mod invalid_job;
mod job;
mod meter;
mod psync;
mod queue;
mod record_content;
mod request_source;
mod result;
mod run;
mod slowdown;
mod stats;
mod stdio;
mod sync_io;
mod sync_schedule;
mod truncate;
mod uring;
mod worker;

pub use control::{Control, SharedShare};
pub use error::{Error, Fault};
pub use fallback::Fallback;
pub use invalid_job::InvalidJob;
pub use iostudy_latency::IoStats;
pub use iostudy_pattern::Order;
pub use job::{Advice, Job, Length, Method, Operation, Pace, Sync, SyncCall, UringOptions};
pub use result::{JobResult, Phases};
pub use run::{repeat, run};
pub use sync_io::read_at;
pub use truncate::{Truncation, truncate};
