//! The I/O loops: the records of files, moved by threads.
//!
//! A [`Job`] says what is done; [`run`] carries it out and gives a [`JobResult`] or the first
//! [`Error`], and in either case only after every thread has ended. A thread opens its files, takes
//! record after record from its feed (which comes next, and when it is due), hands it to its
//! backend (how it gets to the kernel), and notes it in its meter. No thread begins before all have
//! their buffers, so that nothing but I/O is timed.

mod backend;
mod calls;
mod contents;
mod error;
mod feed;
mod files;
mod invalid;
mod job;
mod meter;
mod note;
mod psync;
mod result;
mod ring;
mod run;
mod slowness;
mod stdio;
mod truncate;
mod turn;
mod uring;

pub use calls::read_at;
pub use error::{Error, Fault};
pub use invalid::Invalid;
pub use iostudy_pattern::Order;
pub use job::{Advice, Job, Length, Method, Operation, Pace, Ring, Sync, SyncCall};
pub use meter::Tally;
pub use note::Note;
pub use result::{JobResult, Phases};
pub use run::run;
pub use truncate::{Truncation, truncate};
