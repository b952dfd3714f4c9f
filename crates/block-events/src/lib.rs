//! Block requests from the kernel's tracepoints: their latencies and sizes, and traces of their
//! events.
//!
//! Both read the ring buffers of a configured trace instance (Documentation/trace/ftrace.rst).
//! [`Recording::start`] reads in a thread, and [`Recording::stop`] returns the [`RecordingResult`].
//! The caller of [`Trace::start`] reads batches of [`traced_event`]s itself. All other modules are
//! pure functions of bytes: the [`format`](mod@format) texts, the [`page`] of a ring buffer, its
//! [`event`]s, the [`decoder`] and the [`matching`] of events to requests.

pub mod decoder;
pub mod event;
pub mod format;
pub mod matching;
mod ordered_reader;
pub mod page;
mod recording;
mod source;
mod trace;
pub mod traced_event;

pub use recording::{Recording, RecordingResult};
pub use trace::{Batch, Trace};
