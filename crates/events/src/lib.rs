//! Batch jobs of high-energy physics: each reads an event, computes, and reads the next.
//!
//! A [`Workload`] says how many jobs there are and what they do; [`run`] carries it out and gives an
//! [`EventResult`] or the first error, in either case only after every thread has ended. An event
//! is read in several pieces with gaps between them ([`Layout`]), as a column-wise file has them:
//! the baskets of the columns that a job wants, without those of the columns that it does not.

mod compute;
mod fetched;
mod job;
mod layout;
mod result;
mod run;
mod workload;

pub use compute::Compute;
pub use layout::Layout;
pub use result::EventResult;
pub use run::run;
pub use workload::{Invalid, Workload};
