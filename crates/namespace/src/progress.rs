//! Durability progress and statistics of the log.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, FailedLog, Fault};

/// Statistics of the log since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogStatistics {
    /// Durable mutations.
    pub mutations: u64,
    /// Batches; each is synced once in every directory.
    pub batches: u64,
    /// Bytes of batches in one directory.
    pub bytes: u64,
    /// Time from the first write of each batch to its last sync.
    pub writing: Duration,
}

impl LogStatistics {
    /// Difference to the statistics `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            mutations: self.mutations - before.mutations,
            batches: self.batches - before.batches,
            bytes: self.bytes - before.bytes,
            writing: self.writing.saturating_sub(before.writing),
        }
    }
}

/// Wait times of a caller.
#[derive(Debug, Clone, Copy, Default)]
pub struct WaitTimes {
    /// Wait for the tree lock.
    pub lock: Duration,
    /// Wait for the lock or the space of the log buffer.
    pub buffer: Duration,
    /// Wait for durability.
    pub sync: Duration,
}

/// Marker above every transaction: all log directories failed.
const FAILED: u64 = u64::MAX;

/// Durability progress and statistics of the log.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Newest acknowledged transaction; [`FAILED`] when no directory remains.
    durable: AtomicU64,
    advanced: (Mutex<()>, Condvar),
    history: Mutex<History>,
}

#[derive(Debug, Default)]
struct History {
    statistics: LogStatistics,
    failed_logs: Vec<FailedLog>,
}

impl Progress {
    /// Start with `last` as the newest durable transaction.
    pub(crate) fn starting_at(last: u64) -> Self {
        Self {
            durable: AtomicU64::new(last),
            ..Self::default()
        }
    }

    /// Newest acknowledged transaction.
    ///
    /// # Errors
    ///
    /// No log directory remains.
    #[inline]
    pub(crate) fn durable(&self) -> Result<u64, Error> {
        match self.durable.load(Ordering::Acquire) {
            FAILED => Err(Error::AllLogsFailed(self.failed_logs())),
            durable => Ok(durable),
        }
    }

    /// Wait until `transaction` is durable, but at most `max_wait`. Return the newest durable
    /// transaction.
    ///
    /// # Errors
    ///
    /// No log directory remains.
    pub(crate) fn wait_for(
        &self,
        transaction: u64,
        max_wait: Duration,
        wait_times: &mut WaitTimes,
    ) -> Result<u64, Error> {
        let (guard, advanced) = &self.advanced;
        let began = Instant::now();
        let is_not = |(): &mut ()| self.durable.load(Ordering::Acquire) < transaction;
        let guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
        drop(advanced.wait_timeout_while(guard, max_wait, is_not));
        wait_times.sync += began.elapsed();
        self.durable()
    }

    /// Statistics so far.
    pub(crate) fn statistics(&self) -> LogStatistics {
        self.history().statistics
    }

    /// Failed log directories.
    pub(crate) fn failed_logs(&self) -> Vec<FailedLog> {
        self.history().failed_logs.clone()
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acknowledge up to `durable` without waking waiters; for namespaces without a log.
    #[inline]
    pub(crate) fn acknowledge(&self, durable: u64) {
        self.durable.store(durable, Ordering::Release);
    }

    /// Add failed directories; of each only the first fault is kept.
    pub(crate) fn add_failed_logs(&self, failed_logs: Vec<FailedLog>) {
        let history = &mut self.history().failed_logs;
        for one in failed_logs {
            if !history.iter().any(|known| known.directory == one.directory) {
                history.push(one);
            }
        }
    }

    /// Add to the statistics.
    pub(crate) fn add_statistics(&self, more: LogStatistics) {
        let statistics = &mut self.history().statistics;
        statistics.mutations += more.mutations;
        statistics.batches += more.batches;
        statistics.bytes += more.bytes;
        statistics.writing += more.writing;
    }

    /// Fail the log: no directory remains.
    pub(crate) fn fail(&self) {
        self.advance(FAILED);
    }

    /// Acknowledge up to `durable` and wake waiters.
    pub(crate) fn advance(&self, durable: u64) {
        // FAILED is final, even if another thread sets it during a write.
        self.durable.fetch_max(durable, Ordering::Release);
        let (guard, advanced) = &self.advanced;
        drop(guard.lock().unwrap_or_else(PoisonError::into_inner)); // synchronizes with threads that are about to wait
        advanced.notify_all();
    }

    /// Keep the successful results; the other directories fail from `transaction` on.
    ///
    /// # Errors
    ///
    /// No directory succeeded: nothing is acknowledged any more.
    pub(crate) fn keep_successful<T>(
        &self,
        each: impl Iterator<Item = (PathBuf, Result<T, Fault>)>,
        transaction: u64,
    ) -> Result<Vec<T>, Error> {
        let (mut kept, mut failed_logs) = (Vec::new(), Vec::new());
        for (directory, outcome) in each {
            match outcome {
                Ok(own) => kept.push(own),
                Err(fault) => failed_logs.push(FailedLog {
                    directory,
                    transaction,
                    fault,
                }),
            }
        }
        self.add_failed_logs(failed_logs);
        if kept.is_empty() {
            self.fail();
        }
        self.durable().map(|_| kept)
    }

    /// Directories without a failure.
    pub(crate) fn remaining(&self, directories: &[PathBuf]) -> Vec<PathBuf> {
        let failed_logs = self.failed_logs();
        let is_left = |own: &&PathBuf| !failed_logs.iter().any(|one| one.directory == **own);
        directories.iter().filter(is_left).cloned().collect()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.durable.load(Ordering::Acquire) == FAILED
    }
}
