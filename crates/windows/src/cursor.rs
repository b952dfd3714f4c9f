//! Position of one worker among the windows.

use std::cell::LazyCell;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use crate::log::LoggedWindow;
use crate::pending::{Counts, Snapshots};

/// Later than the end of any job: a worker without a log never reaches a bound.
const NEVER: Duration = Duration::from_secs(1 << 32);

/// Position of one worker among the windows of a log.
#[derive(Debug)]
pub struct WindowCursor<'a> {
    log: Option<(&'a boxcar::Vec<LoggedWindow>, Sender<Snapshots>)>,
    /// Next bound. The log is searched for new windows at every completion after it.
    bound: Instant,
    /// Index of the current or next window.
    window: usize,
    /// Counters at the start of the current window; `None` before it.
    at_start: Option<Arc<Counts>>,
}

impl<'a> WindowCursor<'a> {
    pub(crate) fn new(windows: &'a boxcar::Vec<LoggedWindow>, sender: Sender<Snapshots>) -> Self {
        Self {
            log: Some((windows, sender)),
            bound: Instant::now(),
            window: 0,
            at_start: None,
        }
    }

    /// Cursor of a job without windows.
    pub fn without_log() -> Self {
        Self {
            log: None,
            bound: Instant::now() + NEVER,
            window: 0,
            at_start: None,
        }
    }

    /// Note the time `now`. Call it before counting an operation that completed then; `counts` are
    /// the counters without it. Times never decrease.
    #[inline]
    pub fn advance(&mut self, now: Instant, counts: impl FnOnce() -> Counts) {
        if now >= self.bound {
            self.pass(now, counts);
        }
    }

    /// Take a snapshot for all bounds up to `now`.
    fn pass(&mut self, now: Instant, counts: impl FnOnce() -> Counts) {
        let Some((windows, sender)) = &self.log else {
            return;
        };
        let snapshot = LazyCell::new(|| Arc::new(counts()));
        self.bound = now;
        while let Some(logged) = windows.get(self.window) {
            let window = logged.window;
            if now < window.start {
                self.bound = window.start;
                return;
            }
            let at_start = self.at_start.get_or_insert_with(|| Arc::clone(&snapshot));
            if now < window.end {
                self.bound = window.end;
                return;
            }
            // Sending fails only after the log is gone.
            let _ = sender.send(Snapshots {
                window: self.window,
                at_start: Arc::clone(at_start),
                at_end: Arc::clone(&snapshot),
            });
            self.at_start = None;
            self.window += 1;
        }
    }
}
