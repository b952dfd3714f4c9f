//! Deterministic model of disk and flash drives on a virtual clock.
//!
//! A front end submits requests at times of its choice, asks for the time of the next event, and
//! collects the completions. The model computes times and stores no data. The model never reads a clock, so equal requests give equal times.

pub mod disk;
mod drive;
pub mod flash;
mod request;

pub use drive::{Drive, Parameters};
pub use request::SubmitError;
pub use request::{BLOCK_BYTES, Completion, Nanos, Operation, Request};
