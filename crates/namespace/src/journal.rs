//! Group commit of mutations to the log.
//!
//! A writer thread takes the pending batch, writes it to every log directory, and publishes the
//! newest durable transaction. Meanwhile the next batch accumulates. A directory that fails is
//! dropped; the log continues with the others.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::batch;
use crate::copies::{LogCopies, WriteOrder};
use crate::error::{Error, Fault};
use crate::mutation::Mutation;
use crate::progress::{LogStatistics, Progress, WaitTimes};
use crate::record;
use crate::segment::{Segment, SyncPolicy};
use crate::timed_lock::timed_lock;

/// Options of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogOptions {
    /// Log directories, each with a copy of the log; without any, nothing is durable.
    pub directories: Vec<PathBuf>,
    /// Order of writes to the directories.
    pub order: WriteOrder,
    /// Durability of writes.
    pub sync: SyncPolicy,
    /// Preallocation step in bytes, written as zeros; 0 means no preallocation.
    pub preallocate: usize,
    /// Minimum record size in bytes.
    pub record_bytes: usize,
    /// Maximum number of records in a batch; 0 means no limit.
    pub batch_records: u32,
    /// Time that the first record of a batch waits for others.
    pub batch_wait: Duration,
}

/// Batch that accumulates until the writer takes it.
#[derive(Default)]
struct PendingBatch {
    bytes: Vec<u8>,
    records: u32,
    /// Newest appended transaction.
    last: u64,
    /// Failed directories, which the writer must exclude.
    exclude: Vec<PathBuf>,
    /// The writer waits for the first record.
    writer_is_idle: bool,
    closing: bool,
}

struct SharedState {
    pending: Mutex<PendingBatch>,
    /// Signals a first record, a full batch, or the end.
    work_available: Condvar,
    /// Signals space in the buffer.
    space_available: Condvar,
    batch_records: u32,
    progress: Arc<Progress>,
}

impl SharedState {
    fn pending(&self) -> MutexGuard<'_, PendingBatch> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Open log. Dropping it leaves the segments as a crash would.
pub(crate) struct Journal {
    shared: Arc<SharedState>,
    /// `None` without directories, and after the end.
    writer: Option<JoinHandle<LogCopies>>,
    has_directories: bool,
    record_bytes: usize,
}

impl Journal {
    /// Create a new segment in every directory, after `last`, and start the writer.
    pub(crate) fn open(
        log: &LogOptions,
        last: u64,
        progress: &Arc<Progress>,
    ) -> Result<Self, Error> {
        let segments = create_segments(log, last).map(|(_, segment)| segment);
        let segments = segments.collect::<Result<_, _>>()?;
        Self::start(segments, log, last, progress)
    }

    /// Start the writer of these segments, which follow `last`.
    fn start(
        segments: Vec<Segment>,
        log: &LogOptions,
        last: u64,
        progress: &Arc<Progress>,
    ) -> Result<Self, Error> {
        let shared = Arc::new(SharedState {
            pending: Mutex::new(PendingBatch {
                last,
                ..PendingBatch::default()
            }),
            work_available: Condvar::new(),
            space_available: Condvar::new(),
            batch_records: log.batch_records,
            progress: Arc::clone(progress),
        });
        let copies = LogCopies::new(segments, log.order).map_err(Error::Thread)?;
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

    /// Append a mutation and return its transaction. Without directories it is acknowledged
    /// immediately.
    pub(crate) fn append(&self, mutation: &Mutation, wait_times: &mut WaitTimes) -> u64 {
        let pending = &self.shared.pending;
        let mut pending = timed_lock(
            pending.try_lock(),
            || pending.lock(),
            &mut wait_times.buffer,
        );
        if !self.has_directories {
            pending.last += 1;
            self.shared.progress.acknowledge(pending.last);
            return pending.last;
        }
        let most = self.shared.batch_records;
        if most > 0 && pending.records >= most {
            let began = Instant::now();
            let progress = &self.shared.progress;
            let full =
                |pending: &mut PendingBatch| pending.records >= most && !progress.has_failed();
            let space_available = self.shared.space_available.wait_while(pending, full);
            pending = space_available.unwrap_or_else(PoisonError::into_inner);
            wait_times.buffer += began.elapsed();
        }
        pending.last += 1;
        let (id, place) = (pending.last, pending.records);
        if place == 0 {
            batch::reserve_header(&mut pending.bytes);
        }
        record::append(&mut pending.bytes, (id, place), mutation, self.record_bytes);
        pending.records += 1;
        if pending.writer_is_idle || pending.records == most {
            pending.writer_is_idle = false;
            self.shared.work_available.notify_one();
        }
        id
    }

    /// Finalize the segments and create new ones in the remaining directories of `log`. Return the
    /// last transaction before them.
    pub(crate) fn roll(&mut self, log: &LogOptions) -> Result<u64, Error> {
        let last = self.finish()?;
        let progress = Arc::clone(&self.shared.progress);
        let left = LogOptions {
            directories: progress.remaining(&log.directories),
            ..log.clone()
        };
        let segments = progress.keep_successful(create_segments(&left, last), last + 1)?;
        *self = Self::start(segments, &left, last, &progress).inspect_err(|_| progress.fail())?;
        Ok(last)
    }

    /// Write the pending batch and finalize the segments. Return the last transaction. A directory
    /// with an error is dropped.
    pub(crate) fn finish(&mut self) -> Result<u64, Error> {
        let copies = self.stop_writer();
        let last = self.shared.pending().last;
        let progress = &self.shared.progress;
        progress.durable()?;
        if let Some(mut copies) = copies {
            copies.exclude(&std::mem::take(&mut self.shared.pending().exclude));
            let segments = copies.into_segments().into_iter();
            let each = segments.map(|own| (own.directory().to_owned(), own.finish(last)));
            progress.keep_successful(each, last + 1)?;
        }
        Ok(last)
    }

    /// Exclude the copies in these directories.
    pub(crate) fn exclude(&self, directories: Vec<PathBuf>) {
        self.shared.pending().exclude.extend(directories);
    }

    /// Let the writer write the pending batch and end.
    fn stop_writer(&mut self) -> Option<LogCopies> {
        self.shared.pending().closing = true;
        self.shared.work_available.notify_one();
        let writer = self.writer.take()?;
        Some(writer.join().expect("the writer does not panic"))
    }
}

/// Create a segment in each directory of the log, after `last`.
fn create_segments(
    log: &LogOptions,
    last: u64,
) -> impl Iterator<Item = (PathBuf, Result<Segment, Fault>)> {
    let first = last + 1;
    log.directories.iter().map(move |own| {
        let segment = Segment::create(own, first, log.sync, log.preallocate);
        (own.clone(), segment)
    })
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.stop_writer();
    }
}

/// Writer thread.
struct Writer {
    shared: Arc<SharedState>,
    copies: LogCopies,
    /// Newest transaction in every copy.
    durable: u64,
    wait: Duration,
}

impl Writer {
    /// Write batches until the log is closed or no directory remains. Return the remaining copies.
    fn write(mut self) -> LogCopies {
        let progress = Arc::clone(&self.shared.progress);
        let mut batch = Arc::new(Vec::new());
        while let Some((last, records)) = self.take_batch(Arc::make_mut(&mut batch)) {
            let began = Instant::now();
            progress.add_failed_logs(self.copies.append(&batch, self.durable + 1));
            if self.copies.is_empty() {
                self.fail_log();
                break;
            }
            progress.add_statistics(LogStatistics {
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

    /// No directory remains: wake all threads that wait for one.
    fn fail_log(&self) {
        self.shared.progress.fail();
        drop(self.shared.pending()); // synchronizes with threads that are about to wait
        self.shared.space_available.notify_all();
    }

    /// Take the pending batch once there is one; `None` at the end.
    fn take_batch(&mut self, batch: &mut Vec<u8>) -> Option<(u64, u32)> {
        let most = self.shared.batch_records;
        let mut pending = self.shared.pending();
        let nothing = |pending: &mut PendingBatch| {
            pending.writer_is_idle = pending.records == 0 && !pending.closing;
            pending.writer_is_idle
        };
        let work_available = &self.shared.work_available;
        pending = work_available
            .wait_while(pending, nothing)
            .unwrap_or_else(PoisonError::into_inner);
        if !self.wait.is_zero() && pending.records > 0 {
            let may_grow = |pending: &mut PendingBatch| {
                !pending.closing && (most == 0 || pending.records < most)
            };
            let waited = work_available.wait_timeout_while(pending, self.wait, may_grow);
            pending = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if pending.records == 0 {
            return None; // the log is closing
        }
        self.copies.exclude(&std::mem::take(&mut pending.exclude));
        std::mem::swap(batch, &mut pending.bytes);
        let records = std::mem::take(&mut pending.records);
        batch::write_header(batch, pending.last + 1 - u64::from(records), records);
        self.shared.space_available.notify_all();
        Some((pending.last, records))
    }
}
