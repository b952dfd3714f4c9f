//! Records made, sorted, merged and checked within a memory limit.
//!
//! Every kind of record has a module of its own; files, spills and errors are shared.

mod error;
pub mod terasort;

pub use error::{Error, Fault};
