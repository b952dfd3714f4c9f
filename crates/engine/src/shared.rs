//! What the threads of a job and their attendant share.

use std::sync::RwLock;
use std::sync::atomic::AtomicBool;

use crate::job::Job;

/// What all threads of a job share.
pub(crate) struct Shared<'a> {
    pub(crate) job: &'a Job,
    /// Told to everyone by the first error, or by the caller.
    pub(crate) stop: AtomicBool,
    /// Held for writing until every thread is ready to start.
    pub(crate) gate: RwLock<()>,
}
