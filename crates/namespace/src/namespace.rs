//! In-memory namespace with a durable edit log.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use crate::directory::{make_directory, set_aside, sync_directory};
use crate::error::{Error, FailedLog, Fault, Findings};
use crate::image;
use crate::journal::{Journal, LogOptions};
use crate::mutation::Mutation;
use crate::progress::{LogStatistics, Progress, WaitTimes};
use crate::recovery::{Recovery, recover};
use crate::segment::list_segments;
use crate::timed_lock::timed_lock;
use crate::tree::{Status, Tree, TreeError};

struct Inner {
    tree: Tree,
    journal: Journal,
}

/// Namespace that is served from memory; acknowledged changes are durable.
///
/// A read-write lock guards the tree, as in a name-node. Mutations are appended to the log under
/// the write lock, so the log has their order. Callers wait for durability after releasing the
/// lock.
pub struct Namespace {
    inner: RwLock<Inner>,
    progress: Arc<Progress>,
    log: LogOptions,
    /// Held while an image is written.
    checkpoint: Mutex<()>,
}

impl Namespace {
    /// Create an empty namespace with a new log in every directory. Missing directories are
    /// created.
    ///
    /// # Errors
    ///
    /// A directory cannot be created or already has a log, or a file cannot be written.
    pub fn format(log: LogOptions) -> Result<Self, Error> {
        for directory in &log.directories {
            make_directory(directory)?;
            if !list_segments(directory)?.is_empty() || !image::list_images(directory)?.is_empty() {
                let there = rustix::io::Errno::EXIST;
                return Err(Fault::in_call(directory, "begin a log")(there).into());
            }
        }
        Self::start(log, Tree::default(), 0)
    }

    /// Recover the namespace from its log and continue the log. Return it with the findings of the
    /// recovery.
    ///
    /// An image of the recovered tree is made durable in every directory before the old files are
    /// removed. Damaged files are kept under names that start with `set-aside-`.
    ///
    /// # Errors
    ///
    /// The errors of [`recover`]; or a directory cannot be listed, or a file cannot be written.
    /// `log` must not include a directory that is permanently lost.
    pub fn open(log: LogOptions) -> Result<(Self, Findings), Error> {
        let Recovery {
            tree,
            last,
            findings,
        } = recover(&log.directories)?;
        let mut damaged = findings.paths();
        if let Some(fault) = findings.unlisted(&log.directories) {
            return Err(fault.clone().into());
        }
        let image = image::encode(&tree, last);
        for directory in &log.directories {
            let place = image::image_path(directory, last);
            if damaged.remove(&*place) {
                set_aside(&place)?;
            }
            image::write(directory, &image, last)?;
        }
        damaged.into_iter().try_for_each(set_aside)?;
        for directory in &log.directories {
            remove_before(directory, last)?;
            for segment in list_segments(directory)? {
                remove(&segment.path)?;
            }
            sync_directory(directory)?;
        }
        Ok((Self::start(log, tree, last)?, findings))
    }

    fn start(log: LogOptions, tree: Tree, last: u64) -> Result<Self, Error> {
        let progress = Arc::new(Progress::starting_at(last));
        let journal = Journal::open(&log, last, &progress)?;
        Ok(Self {
            inner: RwLock::new(Inner { tree, journal }),
            progress,
            log,
            checkpoint: Mutex::default(),
        })
    }

    /// Apply a mutation and append it to the log. Return its transaction, which is not yet durable.
    ///
    /// # Errors
    ///
    /// The tree rejects the mutation.
    pub fn change(
        &self,
        mutation: &Mutation,
        wait_times: &mut WaitTimes,
    ) -> Result<u64, TreeError> {
        let mut inner = self.write(&mut wait_times.lock);
        inner.tree.apply(mutation)?;
        Ok(inner.journal.append(mutation, wait_times))
    }

    /// Return the status of a path. For a file this stands for its block locations.
    ///
    /// # Errors
    ///
    /// The path does not exist.
    pub fn status(&self, path: &str, wait_times: &mut WaitTimes) -> Result<Status, TreeError> {
        self.read(&mut wait_times.lock).tree.status(path)
    }

    /// Newest acknowledged transaction: it is durable in every remaining directory.
    ///
    /// # Errors
    ///
    /// No log directory remains.
    #[inline]
    pub fn durable(&self) -> Result<u64, Error> {
        self.progress.durable()
    }

    /// Wait until `transaction` is durable, but at most `max_wait`. Return the newest durable
    /// transaction.
    ///
    /// # Errors
    ///
    /// No log directory remains.
    pub fn wait_for(
        &self,
        transaction: u64,
        max_wait: Duration,
        wait_times: &mut WaitTimes,
    ) -> Result<u64, Error> {
        self.progress.wait_for(transaction, max_wait, wait_times)
    }

    /// Statistics of the log so far.
    pub fn statistics(&self) -> LogStatistics {
        self.progress.statistics()
    }

    /// Log directories that failed.
    pub fn failed_logs(&self) -> Vec<FailedLog> {
        self.progress.failed_logs()
    }

    /// Write an image of the tree to every remaining directory, start new segments, and remove
    /// older images and segments except the newest. Mutations wait for the copy of the tree but not
    /// for the write. A directory with a write or remove error is dropped.
    ///
    /// # Errors
    ///
    /// No log directory remains: nothing is acknowledged any more.
    pub fn checkpoint(&self) -> Result<(), Error> {
        if self.log.directories.is_empty() {
            return Ok(()); // no directory for an image
        }
        let _one_at_a_time = self.checkpoint.lock();
        let (image, last) = {
            let mut inner = self.write(&mut Duration::default());
            let last = inner.journal.roll(&self.log)?;
            (image::encode(&inner.tree, last), last)
        };
        self.write_images(&image, last)
    }

    fn write_images(&self, image: &[u8], last: u64) -> Result<(), Error> {
        let left = self.progress.remaining(&self.log.directories);
        let put = |own: &PathBuf| (own.clone(), write_image(own, image, last));
        let kept = self
            .progress
            .keep_successful(left.iter().map(put), last + 1);
        let still = self.progress.remaining(&left);
        let failed_logs = left.into_iter().filter(|own| !still.contains(own));
        self.read(&mut Duration::default())
            .journal
            .exclude(failed_logs.collect());
        kept.map(|_| ())
    }

    /// Make everything durable and finalize the segments. Return the tree and all failed
    /// directories.
    ///
    /// # Errors
    ///
    /// No log directory remains.
    pub fn close(self) -> Result<(Tree, Vec<FailedLog>), Error> {
        let Inner { tree, mut journal } = self
            .inner
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        journal.finish()?;
        Ok((tree, self.progress.failed_logs()))
    }

    fn write(&self, waited: &mut Duration) -> RwLockWriteGuard<'_, Inner> {
        timed_lock(self.inner.try_write(), || self.inner.write(), waited)
    }

    fn read(&self, waited: &mut Duration) -> RwLockReadGuard<'_, Inner> {
        timed_lock(self.inner.try_read(), || self.inner.read(), waited)
    }
}

/// Write an image and remove superseded files, except the newest previous image and its log.
fn write_image(directory: &Path, image: &[u8], last: u64) -> Result<(), Fault> {
    image::write(directory, image, last)?;
    if let Some((before, _)) = image::list_images(directory)?.get(1) {
        remove_before(directory, *before)?;
    }
    sync_directory(directory)
}

/// Remove images older than `last`, and segments that end at or before it.
fn remove_before(directory: &Path, last: u64) -> Result<(), Fault> {
    for (image, path) in image::list_images(directory)? {
        if image < last {
            remove(&path)?;
        }
    }
    for segment in list_segments(directory)? {
        if segment.last.is_some_and(|own| own <= last) {
            remove(&segment.path)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), Fault> {
    fs::remove_file(path).map_err(Fault::from_io_error(path, "remove"))
}
