//! Windows of time, and their log.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use thiserror::Error;

use crate::cursor::WindowCursor;
use crate::pending::{Pending, Snapshots, WindowCounts};

/// Append-only log of windows. The driver's methods may be called from any thread.
#[derive(Debug)]
pub struct WindowLog {
    windows: boxcar::Vec<LoggedWindow>,
    workers: AtomicUsize,
    sender: Sender<Snapshots>,
    driver: Mutex<Driver>,
}

/// State that workers do not use.
#[derive(Debug)]
struct Driver {
    last_end: Option<Instant>,
    receiver: Receiver<Snapshots>,
    pending: Pending,
}

impl WindowLog {
    /// Create an empty log.
    pub fn new() -> Self {
        let (sender, receiver) = channel();
        Self {
            windows: boxcar::Vec::new(),
            workers: AtomicUsize::new(0),
            sender,
            driver: Mutex::new(Driver {
                last_end: None,
                receiver,
                pending: Pending::default(),
            }),
        }
    }

    /// Set the number of workers that count in a window. Return false if a job already uses
    /// the log.
    pub fn claim(&self, workers: usize) -> bool {
        self.workers
            .compare_exchange(0, workers, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Cursor of one worker. Every worker of the job needs one.
    pub fn cursor(&self) -> WindowCursor<'_> {
        WindowCursor::new(&self.windows, self.sender.clone())
    }

    /// Publish a window to the workers.
    ///
    /// # Errors
    ///
    /// The window is empty, overlaps an earlier one, or has started by the time when every worker
    /// can see it. Nothing is counted then.
    pub fn open(&self, window: Window) -> Result<(), InvalidWindow> {
        let mut driver = self.driver();
        if window.end <= window.start {
            return Err(InvalidWindow::Empty);
        }
        if driver.last_end.is_some_and(|end| window.start < end) {
            return Err(InvalidWindow::Overlap);
        }
        if window.start <= Instant::now() {
            return Err(InvalidWindow::Past);
        }
        driver.last_end = Some(window.end);
        self.publish(window)
    }

    /// Workers read the clock before they look for a window. The fence makes the window visible
    /// before the clock is read here: a worker that misses it read an earlier time.
    fn publish(&self, window: Window) -> Result<(), InvalidWindow> {
        let late = AtomicBool::new(false);
        let index = self.windows.push(LoggedWindow { window, late });
        fence(Ordering::SeqCst);
        if window.start <= Instant::now() {
            self.windows[index].late.store(true, Ordering::Relaxed);
            return Err(InvalidWindow::Past);
        }
        Ok(())
    }

    /// Counts of the windows that every worker has passed since the last call, in order.
    pub fn completed(&self) -> Vec<WindowCounts> {
        let mut driver = self.driver();
        let Driver {
            receiver, pending, ..
        } = &mut *driver;
        for snapshots in receiver.try_iter() {
            pending.add(&snapshots);
        }
        pending.take_completed(self.workers.load(Ordering::Relaxed), &self.windows)
    }

    fn driver(&self) -> MutexGuard<'_, Driver> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for WindowLog {
    fn default() -> Self {
        Self::new()
    }
}

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
