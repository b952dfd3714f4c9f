//! Batch jobs of high-energy physics that read events and compute.
//!
//! [`run`] runs a [`Workload`] and returns an [`EventResult`] or the first error, after every
//! thread has ended. An event is read in several pieces with gaps between them ([`Layout`]). This
//! models a columnar file: a job reads the baskets of some columns and skips the others.

mod compute;
mod job;
mod layout;
mod run;
mod workload;

pub use compute::Compute;
pub use layout::Layout;
pub use run::EventResult;
pub use run::{repeat, run};
pub use workload::{InvalidWorkload, Workload};
