//! Control of a job while it runs.

use std::sync::atomic::{AtomicU64, Ordering};

use iostudy_windows::{WindowCursor, WindowLog};

/// Windows and slow-down of a running job, which other threads use. The default has neither.
#[derive(Debug, Clone, Copy, Default)]
pub struct Control<'a> {
    /// Log whose windows the job counts.
    pub windows: Option<&'a WindowLog>,
    /// Share of a job with [`crate::Pace::SlowedDown`], in place of the job's own.
    pub slow_down: Option<&'a SharedShare>,
}

impl<'a> Control<'a> {
    pub(crate) fn cursor(&self) -> WindowCursor<'a> {
        self.windows
            .map_or_else(WindowCursor::without_log, WindowLog::cursor)
    }
}

/// Share that another thread may change.
#[derive(Debug)]
pub struct SharedShare(AtomicU64);

impl SharedShare {
    /// Create it with a first value.
    #[must_use]
    pub fn new(share: f64) -> Self {
        Self(AtomicU64::new(share.to_bits()))
    }

    /// Set a share of 0 or more and less than 1.
    pub fn set(&self, share: f64) {
        self.0.store(share.to_bits(), Ordering::Relaxed);
    }

    /// Current value.
    #[must_use]
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}
