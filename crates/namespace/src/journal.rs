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
    /// Time that the first record of a batch waits for others; `None`: until the callers of the
    /// last batch have appended again, where that takes less time than a write.
    pub batch_wait: Option<Duration>,
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
    /// Transaction that the writer waits for; 0 while it writes.
    awaited: u64,
    /// Transaction with which as many have come as were acknowledged last, and when it came.
    refill: (u64, Option<Instant>),
    closing: bool,
}

struct SharedState {
    pending: Mutex<PendingBatch>,
    /// Signals the awaited transaction, or the end.
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

    /// Wait until `transaction` is pending or the log is closing, but at most `max_wait`.
    fn wait_for<'a>(
        &self,
        pending: MutexGuard<'a, PendingBatch>,
        transaction: u64,
        max_wait: Duration,
    ) -> MutexGuard<'a, PendingBatch> {
        let is_missing = |pending: &mut PendingBatch| {
            pending.awaited = transaction;
            pending.last < transaction && !pending.closing
        };
        let waited = self
            .work_available
            .wait_timeout_while(pending, max_wait, is_missing);
        let mut pending = waited.unwrap_or_else(PoisonError::into_inner).0;
        pending.awaited = 0;
        pending
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
                acknowledged: (Instant::now(), 1),
                max_wait: Duration::ZERO,
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
        if id == pending.refill.0 {
            pending.refill.1 = Some(Instant::now());
        }
        if id == pending.awaited {
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
    /// See [`LogOptions::batch_wait`].
    wait: Option<Duration>,
    /// Time and records of the last acknowledgement.
    acknowledged: (Instant, u32),
    /// Longest wait for the callers of the last batch.
    max_wait: Duration,
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
            let writing = began.elapsed();
            progress.add_statistics(LogStatistics {
                mutations: records.into(),
                batches: 1,
                bytes: batch.len() as u64,
                writing,
            });
            self.durable = last;
            self.begin_refill(records, writing);
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

    /// Decide whether the next batch waits for the callers of this one, who are woken afterwards.
    fn begin_refill(&mut self, records: u32, writing: Duration) {
        let mut pending = self.shared.pending();
        let (now, (before, returned)) = (Instant::now(), self.acknowledged);
        let took = pending.refill.1.unwrap_or(now) - before;
        self.max_wait = max_wait((took, returned), records + pending.records, writing);
        self.acknowledged = (now, records);
        pending.refill = (pending.last + u64::from(records), None);
    }

    /// Take the pending batch once there is one; `None` at the end.
    fn take_batch(&mut self, batch: &mut Vec<u8>) -> Option<(u64, u32)> {
        let shared = &self.shared;
        let mut pending = shared.pending();
        let first = pending.last + 1 - u64::from(pending.records);
        let full = match shared.batch_records {
            0 => u64::MAX,
            most => first + u64::from(most) - 1,
        };
        pending = match self.wait {
            None => {
                let whole = full.min(pending.refill.0);
                pending = shared.wait_for(pending, whole, self.max_wait);
                shared.wait_for(pending, first, Duration::MAX)
            }
            Some(wait) => {
                pending = shared.wait_for(pending, first, Duration::MAX);
                shared.wait_for(pending, full, wait)
            }
        };
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

/// Longest wait for a batch of all records `in_flight`, if acknowledged callers `took` so long to
/// append so many again.
///
/// A writer that does not wait takes only what came while it wrote, so two half-full groups
/// alternate, and a record waits for two writes. Waiting pays if it takes less than a write.
fn max_wait((took, returned): (Duration, u32), in_flight: u32, writing: Duration) -> Duration {
    if took / returned * in_flight < writing {
        writing
    } else {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_waits_for_callers_that_return_within_a_write() {
        let write = Duration::from_millis(1);
        assert_eq!(max_wait((write / 2, 16), 16, write), write);
        assert_eq!(max_wait((write / 4, 8), 16, write), write);
        assert_eq!(max_wait((write / 2, 8), 16, write), Duration::ZERO);
        assert_eq!(max_wait((write, 16), 16, write), Duration::ZERO);
    }
}
