//! The log: mutations are gathered in one buffer while the one before is written and synced.
//!
//! A thread takes what has gathered, writes it to every log directory, and tells up to which
//! transaction everything is durable. A directory that fails is dropped and named; the log goes on
//! while one is left.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::copies::{Copies, Order};
use crate::error::{Dropped, Error};
use crate::mutation::Mutation;
use crate::record;
use crate::segment::{Segment, Sync};
use crate::take::take;

/// How the log is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// A copy of the log lies in each of them; without any, nothing is durable.
    pub directories: Vec<PathBuf>,
    /// How they are written to.
    pub order: Order,
    /// When a write is durable.
    pub sync: Sync,
    /// The file is filled with zeros in pieces of so many bytes before it is written to; 0 for not.
    pub preallocate: usize,
    /// The least size of a record.
    pub record_bytes: usize,
    /// The most records in a batch; 0 for any number.
    pub batch_records: u32,
    /// How long the first record of a batch waits for others.
    pub batch_wait: Duration,
}

/// What the log has done since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    /// Mutations that were made durable.
    pub mutations: u64,
    /// Batches: each is synced once in every directory.
    pub batches: u64,
    /// Bytes of records, in one directory.
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

/// What gathers until it is written.
#[derive(Default)]
struct Gathered {
    bytes: Vec<u8>,
    records: u32,
    /// Of the newest transaction that was appended.
    last: u64,
    /// The writer waits for the first record.
    writer_waits: bool,
    closing: bool,
}

struct Shared {
    gathered: Mutex<Gathered>,
    /// A first record, a full buffer, or the end.
    something: Condvar,
    /// A buffer with room again.
    room: Condvar,
    batch_records: u32,
    progress: Arc<Progress>,
}

impl Shared {
    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

    /// Everything up to `durable` is acknowledged, or nothing will be any more.
    fn advance(&self, durable: u64) {
        self.durable.store(durable, Ordering::Release);
        let (guard, advanced) = &self.advanced;
        drop(guard.lock().unwrap_or_else(PoisonError::into_inner)); // none is about to wait
        advanced.notify_all();
    }

    /// Nobody writes from `transaction` on, because of this.
    fn give_up(&self, transaction: u64, because: &Error) {
        if let Error::File(fault) = because {
            let fault = fault.clone();
            self.told().dropped.push(Dropped { transaction, fault });
        }
        self.advance(FAILED);
    }

    fn has_failed(&self) -> bool {
        self.durable.load(Ordering::Acquire) == FAILED
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

/// The log, open. Dropping it leaves the segments as they are, as a crash would.
pub(crate) struct Journal {
    shared: Arc<Shared>,
    /// None without directories, and once it has ended.
    writer: Option<JoinHandle<Copies>>,
    has_directories: bool,
    record_bytes: usize,
}

impl Journal {
    /// Begin a new segment in every directory, behind `last`, and start the writer.
    pub(crate) fn open(log: &Log, last: u64, progress: &Arc<Progress>) -> Result<Self, Error> {
        let begin =
            |directory: &PathBuf| Segment::begin(directory, last + 1, log.sync, log.preallocate);
        let segments = log
            .directories
            .iter()
            .map(begin)
            .collect::<Result<Vec<_>, _>>()?;
        let shared = Arc::new(Shared {
            gathered: Mutex::new(Gathered {
                last,
                ..Gathered::default()
            }),
            something: Condvar::new(),
            room: Condvar::new(),
            batch_records: log.batch_records,
            progress: Arc::clone(progress),
        });
        let copies = Copies::new(segments, log.order).map_err(Error::Thread)?;
        let writer = (!copies.is_empty()).then(|| {
            let writer = Writer {
                shared: Arc::clone(&shared),
                copies,
                wait: log.batch_wait,
            };
            Builder::new()
                .name("log".into())
                .spawn(move || writer.write())
        });
        Ok(Self {
            shared,
            writer: writer.transpose().map_err(Error::Thread)?,
            has_directories: !log.directories.is_empty(),
            record_bytes: log.record_bytes,
        })
    }

    /// Append a mutation; its transaction. Without directories it is acknowledged at once.
    pub(crate) fn append(&self, mutation: &Mutation, waits: &mut Waits) -> u64 {
        let gathered = &self.shared.gathered;
        let mut gathered = take(gathered.try_lock(), || gathered.lock(), &mut waits.buffer);
        if !self.has_directories {
            gathered.last += 1;
            self.shared
                .progress
                .durable
                .store(gathered.last, Ordering::Release);
            return gathered.last;
        }
        let most = self.shared.batch_records;
        if most > 0 && gathered.records >= most {
            let began = Instant::now();
            let progress = &self.shared.progress;
            let full = |gathered: &mut Gathered| gathered.records >= most && !progress.has_failed();
            let room = self.shared.room.wait_while(gathered, full);
            gathered = room.unwrap_or_else(PoisonError::into_inner);
            waits.buffer += began.elapsed();
        }
        gathered.last += 1;
        let (id, place) = (gathered.last, gathered.records);
        record::put(
            &mut gathered.bytes,
            (id, place),
            mutation,
            self.record_bytes,
        );
        gathered.records += 1;
        if gathered.writer_waits || gathered.records == most {
            gathered.writer_waits = false;
            self.shared.something.notify_one();
        }
        id
    }

    /// End the segments, and begin new ones in the directories of `log`; the last transaction
    /// before them. Where that cannot be done, nothing is acknowledged any more.
    pub(crate) fn roll(&mut self, log: &Log, progress: &Arc<Progress>) -> Result<u64, Error> {
        let rolled = self
            .finish()
            .and_then(|last| Ok((Self::open(log, last, progress)?, last)));
        match rolled {
            Ok((begun, last)) => {
                *self = begun;
                Ok(last)
            }
            Err(error) => {
                progress.give_up(self.shared.gathered().last + 1, &error);
                Err(error)
            }
        }
    }

    /// Write what has gathered, and name the segments after their last transaction; that one.
    pub(crate) fn close(mut self) -> Result<u64, Error> {
        self.finish()
    }

    fn finish(&mut self) -> Result<u64, Error> {
        let copies = self.end();
        let last = self.shared.gathered().last;
        self.shared.progress.durable()?;
        for segment in copies.map(Copies::into_segments).unwrap_or_default() {
            segment.finish(last)?;
        }
        Ok(last)
    }

    /// Let the writer write what has gathered, and end it.
    fn end(&mut self) -> Option<Copies> {
        self.shared.gathered().closing = true;
        self.shared.something.notify_one();
        let writer = self.writer.take()?;
        Some(writer.join().expect("the writer does not panic"))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.end();
    }
}

/// The thread that writes batches.
struct Writer {
    shared: Arc<Shared>,
    copies: Copies,
    wait: Duration,
}

impl Writer {
    /// Write batches until the log is closed or no directory is left; the copies that are left.
    fn write(mut self) -> Copies {
        let progress = Arc::clone(&self.shared.progress);
        let mut batch = Arc::new(Vec::new());
        let mut durable = progress.durable.load(Ordering::Acquire);
        while let Some((last, records)) = self.take(Arc::make_mut(&mut batch)) {
            let began = Instant::now();
            let dropped = self.copies.append(&batch, durable + 1);
            let mut told = progress.told();
            told.dropped.extend(dropped);
            if self.copies.is_empty() {
                drop(told);
                self.give_up();
                break;
            }
            told.done.mutations += u64::from(records);
            told.done.batches += 1;
            told.done.bytes += batch.len() as u64;
            told.done.writing += began.elapsed();
            drop(told);
            durable = last;
            progress.advance(durable);
            Arc::make_mut(&mut batch).clear();
        }
        self.copies
    }

    /// No directory is left: nobody shall wait for one, or for room in the buffer.
    fn give_up(&self) {
        self.shared.progress.advance(FAILED);
        drop(self.shared.gathered()); // none is about to wait
        self.shared.room.notify_all();
    }

    /// Take what has gathered, once there is something; None at the end.
    fn take(&self, batch: &mut Vec<u8>) -> Option<(u64, u32)> {
        let most = self.shared.batch_records;
        let mut gathered = self.shared.gathered();
        let nothing = |gathered: &mut Gathered| {
            gathered.writer_waits = gathered.records == 0 && !gathered.closing;
            gathered.writer_waits
        };
        let something = &self.shared.something;
        gathered = something
            .wait_while(gathered, nothing)
            .unwrap_or_else(PoisonError::into_inner);
        if !self.wait.is_zero() && gathered.records > 0 {
            let may_grow = |gathered: &mut Gathered| {
                !gathered.closing && (most == 0 || gathered.records < most)
            };
            let waited = something.wait_timeout_while(gathered, self.wait, may_grow);
            gathered = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if gathered.records == 0 {
            return None; // it is closing
        }
        std::mem::swap(batch, &mut gathered.bytes);
        let records = std::mem::take(&mut gathered.records);
        self.shared.room.notify_all();
        Some((gathered.last, records))
    }
}
