//! A modelled drive served in real time: as a file through FUSE, and to clients of NBD.
//!
//! Requests of the host go to the model of `iostudy-drive` at the time of their arrival. They are
//! completed at the absolute deadlines that the model computes. The data are in memory.

mod command_queue;
mod completing_threads;
mod filesystem;
mod nbd;
mod priority;
mod reply_times;
mod statistics;
mod store;
mod timed_drive;

pub use filesystem::{FILE, Place, STATISTICS, serve};
