//! How long the requests of block devices took and how large they were, from the kernel's
//! tracepoints `block_rq_issue`, `block_rq_requeue` and `block_rq_complete`.
//!
//! [`Recording::start`] reads the ring buffers of a trace instance that somebody has set up for
//! these events (Documentation/trace/ftrace.rst) in a thread of its own, [`Recording::stop`] hands
//! the [`Recorded`] over. All but the recording is a pure function of bytes: texts that describe
//! a [`format`](mod@format), a [`page`] of a ring buffer, an [`event`] in it, the [`decoder`] of
//! both, and what events [`matching`] each other say of requests.

pub mod decoder;
pub mod event;
pub mod format;
pub mod matching;
pub mod page;
mod recording;
mod source;

pub use recording::{Recorded, Recording};
