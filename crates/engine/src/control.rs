//! Control of a job while it runs.

use std::sync::atomic::{AtomicU64, Ordering};

use iostudy_windows::WindowLog;

use crate::invalid_job::InvalidJob;
use crate::job::{Job, Pace};

/// Windows and slow-down of a repeated job, which other threads use while it runs.
#[derive(Debug, Clone, Copy)]
pub struct Control<'a> {
    /// Window log, claimed for the threads of the job.
    pub windows: &'a WindowLog,
    /// Slow-down, in place of the job's own; unused where the job cannot be slowed down.
    pub slow_down: &'a SharedShare,
}

/// Share that another thread may change.
#[derive(Debug)]
pub struct SharedShare(AtomicU64);

impl SharedShare {
    /// Create it with a first value.
    pub fn new(share: f64) -> Self {
        Self(AtomicU64::new(share.to_bits()))
    }

    /// Set a share of 0 or more and less than 1.
    pub fn set(&self, share: f64) {
        self.0.store(share.to_bits(), Ordering::Relaxed);
    }

    /// Current value.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

impl Job {
    /// The job with another slow-down.
    ///
    /// # Errors
    ///
    /// The reason why the job cannot be slowed down by this share.
    pub fn slowed_down(&self, share: f64) -> Result<Self, InvalidJob> {
        if !matches!(self.pace, Pace::ClosedLoop | Pace::SlowedDown { .. }) {
            return Err(InvalidJob::PacedSlowdown);
        }
        let job = Self {
            pace: Pace::SlowedDown { share },
            ..self.clone()
        };
        job.validate().map(|()| job)
    }
}
