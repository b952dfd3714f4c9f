//! Exact counts of a running job's operations in windows of time.
//!
//! A driver opens [`Window`]s in a [`WindowLog`] while the workers of a job run. Each worker has a
//! [`WindowCursor`] and shows it the time of every completion. When that time reaches a bound of a
//! window, the worker takes a snapshot of its own counters, which it keeps anyway. A window's
//! counts are the differences of two snapshots, summed over the workers. No worker stops or takes
//! a lock, and between two bounds a worker compares one time.
//!
//! Counts are exact: a window has the operations that completed at or after its start and before
//! its end, by the worker's own clock. Adjacent windows therefore sum up to the whole.

mod clock;
mod cursor;
mod log;
mod pending;

pub use clock::MonotonicClock;
pub use cursor::WindowCursor;
pub use log::WindowLog;
pub use log::{InvalidWindow, Window};
pub use pending::Counts;
pub use pending::WindowCounts;
