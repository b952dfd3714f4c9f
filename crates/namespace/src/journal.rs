//! The log: mutations are gathered in one buffer while the one before is written and synced.
//!
//! A thread takes what has gathered, writes it to every log directory, and tells up to which
//! transaction everything is durable. A directory that fails is dropped and named; the log goes on
//! while one is left.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::batch;
use crate::copies::{Copies, Order};
use crate::error::{Error, Fault};
use crate::mutation::Mutation;
use crate::progress::{Done, Progress, Waits};
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

/// What gathers until it is written.
#[derive(Default)]
struct Gathered {
    bytes: Vec<u8>,
    records: u32,
    /// Of the newest transaction that was appended.
    last: u64,
    /// Copies in these directories were dropped, and are to be written no more.
    leave: Vec<PathBuf>,
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
        let segments = begin(log, last).map(|(_, begun)| begun);
        let segments = segments.collect::<Result<_, _>>()?;
        Self::of(segments, log, last, progress)
    }

    /// Start the writer of these segments, which begin behind `last`.
    fn of(
        segments: Vec<Segment>,
        log: &Log,
        last: u64,
        progress: &Arc<Progress>,
    ) -> Result<Self, Error> {
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
                durable: last,
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
            self.shared.progress.acknowledge(gathered.last);
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
        if place == 0 {
            batch::begin(&mut gathered.bytes);
        }
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

    /// End the segments, and begin new ones in the directories of `log` that are left; the last
    /// transaction before them. Where none is left, nothing is acknowledged any more.
    pub(crate) fn roll(&mut self, log: &Log) -> Result<u64, Error> {
        let last = self.finish()?;
        let progress = Arc::clone(&self.shared.progress);
        let left = Log {
            directories: progress.left_of(&log.directories),
            ..log.clone()
        };
        let segments = progress.keep(begin(&left, last), last + 1)?;
        *self = Self::of(segments, &left, last, &progress).inspect_err(|_| progress.fail())?;
        Ok(last)
    }

    /// Write what has gathered, and name the segments after their last transaction; that one. A
    /// directory where that cannot be done is dropped.
    pub(crate) fn finish(&mut self) -> Result<u64, Error> {
        let copies = self.end();
        let last = self.shared.gathered().last;
        let progress = &self.shared.progress;
        progress.durable()?;
        if let Some(mut copies) = copies {
            copies.leave(&std::mem::take(&mut self.shared.gathered().leave));
            let segments = copies.into_segments().into_iter();
            let each = segments.map(|own| (own.directory().to_owned(), own.finish(last)));
            progress.keep(each, last + 1)?;
        }
        Ok(last)
    }

    /// Write no more to the copies in these directories, which were dropped.
    pub(crate) fn leave(&self, directories: Vec<PathBuf>) {
        self.shared.gathered().leave.extend(directories);
    }

    /// Let the writer write what has gathered, and end it.
    fn end(&mut self) -> Option<Copies> {
        self.shared.gathered().closing = true;
        self.shared.something.notify_one();
        let writer = self.writer.take()?;
        Some(writer.join().expect("the writer does not panic"))
    }
}

/// A new segment in each directory of the log, behind `last`.
fn begin(log: &Log, last: u64) -> impl Iterator<Item = (PathBuf, Result<Segment, Fault>)> {
    let first = last + 1;
    log.directories.iter().map(move |own| {
        let begun = Segment::begin(own, first, log.sync, log.preallocate);
        (own.clone(), begun)
    })
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
    /// The newest transaction that every copy has.
    durable: u64,
    wait: Duration,
}

impl Writer {
    /// Write batches until the log is closed or no directory is left; the copies that are left.
    fn write(mut self) -> Copies {
        let progress = Arc::clone(&self.shared.progress);
        let mut batch = Arc::new(Vec::new());
        while let Some((last, records)) = self.take(Arc::make_mut(&mut batch)) {
            let began = Instant::now();
            progress.lost(self.copies.append(&batch, self.durable + 1));
            if self.copies.is_empty() {
                self.give_up();
                break;
            }
            progress.wrote(Done {
                mutations: records.into(),
                batches: 1,
                bytes: batch.len() as u64,
                writing: began.elapsed(),
            });
            self.durable = last;
            progress.advance(last);
            Arc::make_mut(&mut batch).clear();
        }
        self.copies
    }

    /// No directory is left: nobody shall wait for one, or for room in the buffer.
    fn give_up(&self) {
        self.shared.progress.fail();
        drop(self.shared.gathered()); // none is about to wait
        self.shared.room.notify_all();
    }

    /// Take what has gathered, once there is something; None at the end.
    fn take(&mut self, batch: &mut Vec<u8>) -> Option<(u64, u32)> {
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
        self.copies.leave(&std::mem::take(&mut gathered.leave));
        std::mem::swap(batch, &mut gathered.bytes);
        let records = std::mem::take(&mut gathered.records);
        batch::seal(batch, gathered.last + 1 - u64::from(records), records);
        self.shared.room.notify_all();
        Some((gathered.last, records))
    }
}
