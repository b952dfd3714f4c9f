//! Latencies and sizes of block requests from the kernel's tracepoints `block_rq_issue`,
//! `block_rq_requeue` and `block_rq_complete`.
//!
//! [`Recording::start`] reads the ring buffers of a configured trace instance in a thread
//! (Documentation/trace/ftrace.rst), and [`Recording::stop`] returns the [`RecordingResult`]. All
//! other modules are pure functions of bytes: the [`format`](mod@format) texts, the [`page`] of a
//! ring buffer, its [`event`]s, the [`decoder`] and the [`matching`] of events to requests.

pub mod decoder;
pub mod event;
pub mod format;
pub mod matching;
pub mod page;
mod recording;
mod source;

pub use recording::{Recording, RecordingResult};
