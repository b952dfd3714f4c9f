//! Windows of time and reasons why one is refused.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use thiserror::Error;

/// Half-open interval of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First instant of the window.
    pub start: Instant,
    /// First instant after the window.
    pub end: Instant,
}

/// Window as workers find it in the log.
#[derive(Debug)]
pub(crate) struct LoggedWindow {
    pub(crate) window: Window,
    /// Whether the window was published after its start, and has no exact counts.
    pub(crate) late: AtomicBool,
}

/// Reasons why a window is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidWindow {
    /// The window contains no time.
    #[error("its end is not after its start")]
    Empty,
    /// The window starts before an earlier one ends.
    #[error("it starts before the end of the window opened before it")]
    Overlap,
    /// Operations of the window may already have completed.
    #[error("its start is in the past; open it earlier")]
    Past,
}
