//! The I/O loops: files moved record by record, each by a thread of its own.
//!
//! A [`Job`] says what is done; [`run`] carries it out and gives a [`JobResult`] or the first
//! [`Error`], and in either case only after every thread has ended. All threads wait at a gate
//! until each has made its buffers, so that nothing but I/O is timed. How records get to the
//! kernel is behind the trait in `backend`: today pread and pwrite.

mod backend;
mod error;
mod file;
mod job;
mod meter;
mod psync;
mod result;
mod run;

pub use error::{Error, Fault};
pub use job::{Invalid, Job, Operation};
pub use result::JobResult;
pub use run::run;
