//! Counters of a worker.

use std::sync::Arc;

use iostudy_latency::IoStats;

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
