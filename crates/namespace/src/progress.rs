//! How far the log is durable, and what it took: told by its writer, waited for by its callers.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Dropped, Error, Fault};

/// What the log has done since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    /// Mutations that were made durable.
    pub mutations: u64,
    /// Batches: each is synced once in every directory.
    pub batches: u64,
    /// Bytes of records and of what batches begin with, in one directory.
    pub bytes: u64,
    /// From the first write of each batch to its last sync.
    pub writing: Duration,
}

impl Done {
    /// What was done since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            mutations: self.mutations - before.mutations,
            batches: self.batches - before.batches,
            bytes: self.bytes - before.bytes,
            writing: self.writing.saturating_sub(before.writing),
        }
    }
}

/// How long a caller waited, where it had to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waits {
    /// For the tree.
    pub lock: Duration,
    /// For the buffer of the log: for whoever fills it, or for room in it.
    pub buffer: Duration,
    /// For a batch to be durable.
    pub sync: Duration,
}

/// Beyond any transaction: waiting for it to be durable ends, and says why.
const FAILED: u64 = u64::MAX;

/// How far the log is durable; it outlives the segments.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Everything up to this transaction is acknowledged; [`FAILED`] when no directory is left.
    durable: AtomicU64,
    advanced: (Mutex<()>, Condvar),
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    done: Done,
    dropped: Vec<Dropped>,
}

impl Progress {
    /// Nothing was written yet, and all up to `last` is durable.
    pub(crate) fn from(last: u64) -> Self {
        Self {
            durable: AtomicU64::new(last),
            ..Self::default()
        }
    }

    /// The newest transaction that is acknowledged.
    ///
    /// # Errors
    ///
    /// No directory is left.
    #[inline]
    pub(crate) fn durable(&self) -> Result<u64, Error> {
        match self.durable.load(Ordering::Acquire) {
            FAILED => Err(Error::NoLogLeft(self.dropped())),
            durable => Ok(durable),
        }
    }

    /// Wait until `transaction` is durable, or for `longest`; what is by then.
    ///
    /// # Errors
    ///
    /// No directory is left.
    pub(crate) fn wait_for(
        &self,
        transaction: u64,
        longest: Duration,
        waits: &mut Waits,
    ) -> Result<u64, Error> {
        let (guard, advanced) = &self.advanced;
        let began = Instant::now();
        let is_not = |(): &mut ()| self.durable.load(Ordering::Acquire) < transaction;
        let guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
        drop(advanced.wait_timeout_while(guard, longest, is_not));
        waits.sync += began.elapsed();
        self.durable()
    }

    /// What was done until now.
    pub(crate) fn done(&self) -> Done {
        self.told().done
    }

    /// The directories that were dropped.
    pub(crate) fn dropped(&self) -> Vec<Dropped> {
        self.told().dropped.clone()
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything up to `durable` is acknowledged where nobody waits for it, without a log.
    #[inline]
    pub(crate) fn acknowledge(&self, durable: u64) {
        self.durable.store(durable, Ordering::Release);
    }

    /// These directories are written no more; of each the first fault is told.
    pub(crate) fn lost(&self, dropped: Vec<Dropped>) {
        let told = &mut self.told().dropped;
        for one in dropped {
            if !told.iter().any(|known| known.directory == one.directory) {
                told.push(one);
            }
        }
    }

    /// This was done beside what was before.
    pub(crate) fn wrote(&self, more: Done) {
        let done = &mut self.told().done;
        done.mutations += more.mutations;
        done.batches += more.batches;
        done.bytes += more.bytes;
        done.writing += more.writing;
    }

    /// Nothing will be acknowledged any more: no directory is left.
    pub(crate) fn fail(&self) {
        self.advance(FAILED);
    }

    /// Everything up to `durable` is acknowledged; whoever waits for it goes on.
    pub(crate) fn advance(&self, durable: u64) {
        // Not back from FAILED, which another thread may tell while a batch is written.
        self.durable.fetch_max(durable, Ordering::Release);
        let (guard, advanced) = &self.advanced;
        drop(guard.lock().unwrap_or_else(PoisonError::into_inner)); // none is about to wait
        advanced.notify_all();
    }

    /// What succeeded in each directory; the others are dropped, from `transaction` on.
    ///
    /// # Errors
    ///
    /// It succeeded in none: nothing will be acknowledged any more.
    pub(crate) fn keep<T>(
        &self,
        each: impl Iterator<Item = (PathBuf, Result<T, Fault>)>,
        transaction: u64,
    ) -> Result<Vec<T>, Error> {
        let (mut kept, mut dropped) = (Vec::new(), Vec::new());
        for (directory, outcome) in each {
            match outcome {
                Ok(own) => kept.push(own),
                Err(fault) => dropped.push(Dropped {
                    directory,
                    transaction,
                    fault,
                }),
            }
        }
        self.lost(dropped);
        if kept.is_empty() {
            self.fail();
        }
        self.durable().map(|_| kept)
    }

    /// Of these directories those that were not dropped.
    pub(crate) fn left_of(&self, directories: &[PathBuf]) -> Vec<PathBuf> {
        let dropped = self.dropped();
        let is_left = |own: &&PathBuf| !dropped.iter().any(|one| one.directory == **own);
        directories.iter().filter(is_left).cloned().collect()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.durable.load(Ordering::Acquire) == FAILED
    }
}
