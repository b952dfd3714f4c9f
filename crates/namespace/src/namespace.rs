//! The tree behind a lock, and the log that makes its mutations durable.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use crate::directory::{make_directory, set_aside, sync_directory};
use crate::error::{Dropped, Error, Fault, Findings};
use crate::image;
use crate::journal::{Journal, Log};
use crate::mutation::Mutation;
use crate::progress::{Done, Progress, Waits};
use crate::recovery::{Recovered, recover};
use crate::segment::lying;
use crate::take::take;
use crate::tree::{Refused, Status, Tree};

struct Inner {
    tree: Tree,
    journal: Journal,
}

/// A tree that is served from memory; what changes it is durable once it is acknowledged.
///
/// One lock guards the tree, as a name-node's does: for reading it is shared. Mutations are
/// appended to the log while it is held, so that the log has them in the order in which they were
/// done, and are waited for after it is given back.
pub struct Namespace {
    inner: RwLock<Inner>,
    progress: Arc<Progress>,
    log: Log,
    /// Held by the one that writes an image.
    checkpoint: Mutex<()>,
}

impl Namespace {
    /// An empty tree, and a new log in every directory: they are made if they are not there.
    ///
    /// # Errors
    ///
    /// A directory cannot be made or already holds a log, or a file in it cannot be written.
    pub fn format(log: Log) -> Result<Self, Error> {
        for directory in &log.directories {
            make_directory(directory)?;
            if !lying(directory)?.is_empty() || !image::lying(directory)?.is_empty() {
                let there = rustix::io::Errno::EXIST;
                return Err(Fault::of(directory, "begin a log")(there).into());
            }
        }
        Self::begin(log, Tree::default(), 0)
    }

    /// The tree that the log of these directories tells, and the log from there on; what was found
    /// that is not as it was written.
    ///
    /// An image of what was recovered is made durable in every directory before what it was
    /// recovered from is removed; but files with damage are set aside, under names that begin with
    /// `set-aside-`.
    ///
    /// # Errors
    ///
    /// As [`recover`]'s, or a directory cannot be listed or a file written. A directory that is
    /// lost for good is left out of `log`.
    pub fn open(log: Log) -> Result<(Self, Findings), Error> {
        let Recovered {
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
            let place = image::place(directory, last);
            if damaged.remove(&*place) {
                set_aside(&place)?;
            }
            image::write(directory, &image, last)?;
        }
        damaged.into_iter().try_for_each(set_aside)?;
        for directory in &log.directories {
            remove_before(directory, last)?;
            for segment in lying(directory)? {
                remove(&segment.path)?;
            }
            sync_directory(directory)?;
        }
        Ok((Self::begin(log, tree, last)?, findings))
    }

    fn begin(log: Log, tree: Tree, last: u64) -> Result<Self, Error> {
        let progress = Arc::new(Progress::from(last));
        let journal = Journal::open(&log, last, &progress)?;
        Ok(Self {
            inner: RwLock::new(Inner { tree, journal }),
            progress,
            log,
            checkpoint: Mutex::default(),
        })
    }

    /// Do it and append it to the log; its transaction, which is not durable yet.
    ///
    /// # Errors
    ///
    /// The tree refuses it.
    pub fn change(&self, mutation: &Mutation, waits: &mut Waits) -> Result<u64, Refused> {
        let mut inner = self.lock(&mut waits.lock);
        inner.tree.apply(mutation)?;
        Ok(inner.journal.append(mutation, waits))
    }

    /// What is known of a path. Of a file that would be where its blocks lie, if it had any.
    ///
    /// # Errors
    ///
    /// It is not there.
    pub fn status(&self, path: &str, waits: &mut Waits) -> Result<Status, Refused> {
        self.share(&mut waits.lock).tree.status(path)
    }

    /// The newest transaction that is acknowledged: it is durable in every directory that is left.
    ///
    /// # Errors
    ///
    /// No directory is left.
    #[inline]
    pub fn durable(&self) -> Result<u64, Error> {
        self.progress.durable()
    }

    /// Wait until `transaction` is durable, or for `longest`; the newest that is.
    ///
    /// # Errors
    ///
    /// No directory is left.
    pub fn wait_for(
        &self,
        transaction: u64,
        longest: Duration,
        waits: &mut Waits,
    ) -> Result<u64, Error> {
        self.progress.wait_for(transaction, longest, waits)
    }

    /// What the log has done until now.
    #[must_use]
    pub fn done(&self) -> Done {
        self.progress.done()
    }

    /// The log directories that failed and were given up.
    #[must_use]
    pub fn dropped(&self) -> Vec<Dropped> {
        self.progress.dropped()
    }

    /// Write an image of the whole tree into every directory that is left, begin new segments, and
    /// remove images and segments that it replaces, but for the newest of each. Mutations wait
    /// until the tree is copied; not until it is written. A directory in which a file cannot be
    /// written or removed is dropped: no segment of a later checkpoint is begun in it.
    ///
    /// # Errors
    ///
    /// No directory is left: nothing is acknowledged any more.
    pub fn checkpoint(&self) -> Result<(), Error> {
        if self.log.directories.is_empty() {
            return Ok(()); // there is nowhere to write one
        }
        let _one_at_a_time = self.checkpoint.lock();
        let (image, last) = {
            let mut inner = self.lock(&mut Duration::default());
            let last = inner.journal.roll(&self.log)?;
            (image::encode(&inner.tree, last), last)
        };
        self.put_images(&image, last)
    }

    fn put_images(&self, image: &[u8], last: u64) -> Result<(), Error> {
        let left = self.progress.left_of(&self.log.directories);
        let put = |own: &PathBuf| (own.clone(), put_image(own, image, last));
        let kept = self.progress.keep(left.iter().map(put), last + 1);
        let still = self.progress.left_of(&left);
        let dropped = left.into_iter().filter(|own| !still.contains(own));
        self.share(&mut Duration::default())
            .journal
            .leave(dropped.collect());
        kept.map(|_| ())
    }

    /// Make everything durable, and name the segments after their last transaction; the tree, and
    /// all directories that were dropped.
    ///
    /// # Errors
    ///
    /// No directory is left.
    pub fn close(self) -> Result<(Tree, Vec<Dropped>), Error> {
        let Inner { tree, mut journal } = self
            .inner
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        journal.finish()?;
        Ok((tree, self.progress.dropped()))
    }

    fn lock(&self, waited: &mut Duration) -> RwLockWriteGuard<'_, Inner> {
        take(self.inner.try_write(), || self.inner.write(), waited)
    }

    fn share(&self, waited: &mut Duration) -> RwLockReadGuard<'_, Inner> {
        take(self.inner.try_read(), || self.inner.read(), waited)
    }
}

/// Write an image, and remove what it replaces but for the newest image and what follows that.
fn put_image(directory: &Path, image: &[u8], last: u64) -> Result<(), Fault> {
    image::write(directory, image, last)?;
    if let Some((before, _)) = image::lying(directory)?.get(1) {
        remove_before(directory, *before)?;
    }
    sync_directory(directory)
}

/// Remove images of before `last`, and segments that hold nothing beyond it.
fn remove_before(directory: &Path, last: u64) -> Result<(), Fault> {
    for (image, path) in image::lying(directory)? {
        if image < last {
            remove(&path)?;
        }
    }
    for segment in lying(directory)? {
        if segment.last.is_some_and(|own| own <= last) {
            remove(&segment.path)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), Fault> {
    fs::remove_file(path).map_err(Fault::of_std(path, "remove"))
}
