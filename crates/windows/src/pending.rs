//! Windows that some workers have passed.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use crate::counts::{Counts, Snapshots, add, between};
use crate::window::{LoggedWindow, Window};

/// Counts of a window that all workers have passed.
#[derive(Debug, Clone)]
pub struct WindowCounts {
    /// The requested window.
    pub window: Window,
    /// Sums over all workers.
    pub counts: Counts,
}

/// Sums of the windows that have not been taken.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Index of the first window of `sums` in the log.
    first: usize,
    sums: VecDeque<Sum>,
}

#[derive(Debug, Default)]
struct Sum {
    workers: usize,
    counts: Counts,
}

impl Pending {
    /// Add the counts of one worker.
    pub(crate) fn add(&mut self, snapshots: &Snapshots) {
        let index = snapshots.window - self.first;
        if self.sums.len() <= index {
            self.sums.resize_with(index + 1, Sum::default);
        }
        let sum = &mut self.sums[index];
        sum.workers += 1;
        add(
            &mut sum.counts,
            between(&snapshots.at_start, &snapshots.at_end),
        );
    }

    /// Take the windows that all `workers` have passed, without late ones.
    pub(crate) fn take_completed(
        &mut self,
        workers: usize,
        windows: &boxcar::Vec<LoggedWindow>,
    ) -> Vec<WindowCounts> {
        let mut completed = Vec::new();
        while let Some(sum) = self.sums.front().filter(|sum| sum.workers == workers) {
            let logged = &windows[self.first];
            self.first += 1;
            if !logged.late.load(Ordering::Relaxed) {
                completed.push(WindowCounts {
                    window: logged.window,
                    counts: sum.counts.clone(),
                });
            }
            self.sums.pop_front();
        }
        completed
    }
}
