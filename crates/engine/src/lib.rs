//! I/O engine: threads that read and write the records of files.
//!
//! [`run`] runs a [`Job`] and returns a [`JobResult`] or the first [`Error`], after every thread
//! has ended. A thread opens its files and takes requests from its request source. Its backend
//! transfers each record, and its meter records the latency. No thread starts before all have
//! allocated their buffers, so that only I/O is timed.

mod control;
mod error;
mod files;
mod invalid_job;
mod job;
mod meter;
mod psync;
#[expect(unsafe_code, reason = "the kernel uses the buffers of an io_uring")]
mod queue;
mod record_content;
mod request_source;
mod result;
mod run;
mod slowdown;
#[expect(unsafe_code, reason = "streams of the C library are what is measured")]
mod stdio;
mod sync_io;
mod truncate;
mod uring;

pub use control::{Control, SharedShare};
pub use error::{Error, Fault};
pub use invalid_job::InvalidJob;
pub use iostudy_latency::IoStats;
pub use iostudy_pattern::Order;
pub use job::{Advice, Job, Length, Method, Operation, Pace, SyncCall, SyncPolicy, UringOptions};
pub use result::Fallback;
pub use result::{JobResult, Phases};
pub use run::{repeat, run};
pub use sync_io::read_at;
pub use truncate::{Truncation, truncate};
