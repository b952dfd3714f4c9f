//! Counters of workers, and windows that some workers have passed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use iostudy_latency::IoStats;

use crate::log::{LoggedWindow, Window};

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

/// Counters of every kind of operation of a job, in an order of the job's own.
pub type Counts = Vec<IoStats>;

/// Counters of one worker at the start and the end of a window.
#[derive(Debug)]
pub(crate) struct Snapshots {
    /// Index of the window in the log.
    pub(crate) window: usize,
    pub(crate) at_start: Arc<Counts>,
    pub(crate) at_end: Arc<Counts>,
}

/// Counts between two snapshots of the same counters.
pub(crate) fn between(earlier: &[IoStats], later: &[IoStats]) -> Counts {
    let pairs = later.iter().zip(earlier);
    pairs.map(|(later, earlier)| later.since(earlier)).collect()
}

/// Add the counts of another worker; `all` is empty before the first one.
pub(crate) fn add(all: &mut Counts, counts: Counts) {
    if all.is_empty() {
        *all = counts;
        return;
    }
    for (own, other) in all.iter_mut().zip(&counts) {
        own.merge(other);
    }
}
