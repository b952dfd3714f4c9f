//! Definition and validation of I/O jobs.

use std::path::PathBuf;
use std::time::Duration;

use iostudy_pattern::{Layout, Order, PAGE_BYTES};

use crate::invalid_job::InvalidJob;

/// Direction of the I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Write every record with its expected content.
    Write,
    /// Read every record and verify it.
    Read,
    /// Random mix of reads and writes.
    Mix {
        /// Percentage of reads, 0 to 100.
        read_percent: u8,
    },
}

impl Operation {
    /// Whether the operation includes writes.
    pub fn writes(self) -> bool {
        self != Self::Read
    }

    /// Whether the operation includes reads.
    pub fn reads(self) -> bool {
        self != Self::Write
    }
}

/// Length of a thread's run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// One pass: each record of the order once.
    Pass,
    /// At least this many bytes, in whole records and as many passes as needed.
    Bytes(u64),
    /// This duration, excluding the ramp time.
    Time(Duration),
    /// Passes until the caller stops the job.
    Endless,
}

/// I/O method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// pread(2) and pwrite(2), one record at a time.
    Positioned,
    /// read(2) and write(2), with lseek(2) where the file position differs.
    Seek,
    /// fread(3) and fwrite(3) with the C library's buffer, flushed after the last record. An
    /// earlier sync covers only the data that the library has written to the kernel.
    Stdio,
    /// `io_uring(7)` with several records in flight. Where the kernel forbids it, the job falls
    /// back to [`Method::Positioned`] and the result says so.
    IoUring(UringOptions),
}

/// Maximum queue depth; no known device gains from more.
const MAX_DEPTH: u32 = 4096;

/// Largest file offset of the kernel.
const MAX_FILE_BYTES: u64 = i64::MAX as u64;

/// Maximum duration, far below the range of a clock.
const MAX_DURATION: Duration = Duration::from_secs(1_000_000_000);

/// Minimum rate: one record in the maximum duration.
const MIN_RATE: f64 = 1e-9;

/// Options of a thread's `io_uring`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UringOptions {
    /// Queue depth: maximum number of records in flight.
    pub depth: u32,
    /// Number of completions to wait for before submitting as many records with one system call.
    pub batch: u32,
    /// A kernel thread polls the submission queue, so that a submission needs no system call.
    pub sqpoll: bool,
    /// Poll the device for completions instead of waiting for interrupts.
    pub iopoll: bool,
}

/// System call that makes written data durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncCall {
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
}

/// Times of sync calls. Every file gets one at its end, inside the measured time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncPolicy {
    /// The system call.
    pub call: SyncCall,
    /// Also sync after this many records written by a thread, on the file of the last record; 0
    /// means only at the end.
    pub every_records: u64,
}

/// Access hint for `posix_fadvise(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Sequential access: larger read-ahead.
    Sequential,
    /// Random access: no read-ahead.
    Random,
    /// Each part is accessed once.
    NoReuse,
    /// All data are needed soon.
    WillNeed,
    /// Cached data are not needed.
    DontNeed,
}

/// Pacing of a thread's records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each record starts when the previous one completes.
    ClosedLoop,
    /// Think time after each completion; then all free slots of the queue are filled.
    ThinkTime(Duration),
    /// Each record starts when the previous one has completed and the thread has waited for this
    /// share of its time. The thread's time includes opening, syncing and closing its files. The
    /// rate falls by exactly this share, whatever the speed of the storage.
    SlowedDown {
        /// Share of 0 or more and less than 1.
        share: f64,
    },
    /// At most this many records per second.
    RateLimited {
        /// Rate of 1e-9 or more.
        per_second: f64,
    },
    /// Records arrive at this rate, independent of completions. Latency counts from the arrival, so
    /// it includes queueing delay.
    OpenLoop {
        /// Rate of 1e-9 or more.
        per_second: f64,
        /// Poisson arrivals; otherwise evenly spaced.
        poisson: bool,
    },
}

/// I/O job: threads that access the records of files.
#[allow(clippy::struct_excessive_bools)] // each is an independent flag
#[derive(Debug, Clone)]
pub struct Job {
    /// Files of each thread. The position of a file among all files determines its content.
    pub threads: Vec<Vec<PathBuf>>,
    /// Direction of the I/O.
    pub operation: Operation,
    /// Create or truncate the files; otherwise they must exist.
    pub create: bool,
    /// Offset of the first record in each file.
    pub begin_bytes: u64,
    /// Bytes per file that the records cover.
    pub file_bytes: u64,
    /// Record size in bytes.
    pub record_bytes: usize,
    /// Access order over all files of a thread.
    pub order: Order,
    /// Length of a thread's run.
    pub length: Length,
    /// Ramp time: completions in this time from the start are not measured.
    pub ramp: Duration,
    /// I/O method.
    pub method: Method,
    /// `O_DIRECT`: bypass the page cache.
    pub direct: bool,
    /// `O_DSYNC`: every write is durable when it returns.
    pub dsync: bool,
    /// Sync calls for written data.
    pub sync: Option<SyncPolicy>,
    /// Preallocate every file with fallocate(2) before the first record.
    pub allocate: bool,
    /// Access hint for the kernel.
    pub advice: Option<Advice>,
    /// Pacing of a thread's records.
    pub pace: Pace,
    /// Compressible fraction of the content, 0 to 1.
    pub compressible: f64,
    /// Compare read data with the expected content.
    pub verify: bool,
    /// Seed of content, random orders and arrivals.
    pub seed: u64,
}

impl Job {
    /// Record layout of a thread.
    pub(crate) fn layout(&self, thread: usize) -> Layout {
        Layout {
            files: self.threads[thread].len(),
            begin: self.begin_bytes,
            bytes: self.file_bytes,
            record_bytes: self.record_bytes,
        }
    }

    /// Position of a thread's file among all files.
    pub(crate) fn file_number(&self, thread: usize, file: usize) -> u64 {
        let before: usize = self.threads[..thread].iter().map(Vec::len).sum();
        (before + file) as u64
    }

    /// Check the job without touching any file.
    ///
    /// # Errors
    ///
    /// The first reason why the job is invalid.
    pub fn validate(&self) -> Result<(), InvalidJob> {
        self.validate_threads()?;
        self.validate_sizes()?;
        self.validate_ranges()?;
        self.validate_times()?;
        self.validate_method()?;
        self.validate_slowdown()?;
        self.validate_writing()
    }

    fn validate_threads(&self) -> Result<(), InvalidJob> {
        let counts: Vec<usize> = self.threads.iter().map(Vec::len).collect();
        let expected = counts.first().copied().unwrap_or(0);
        if expected == 0 {
            return Err(InvalidJob::NoPaths);
        }
        match counts.iter().position(|count| *count != expected) {
            Some(thread) => Err(InvalidJob::UnequalThreads {
                thread,
                found: counts[thread],
                expected,
            }),
            None => Ok(()),
        }
    }

    fn validate_sizes(&self) -> Result<(), InvalidJob> {
        let sizes = [
            ("file_bytes", self.file_bytes),
            ("record_bytes", self.record_bytes as u64),
        ];
        let total = match self.length {
            Length::Bytes(bytes) => Some(("total_bytes", bytes)),
            Length::Pass | Length::Time(_) | Length::Endless => None,
        };
        let is_zero = |(_, bytes): &(_, u64)| *bytes == 0;
        if let Some((name, _)) = sizes.into_iter().chain(total).find(is_zero) {
            return Err(InvalidJob::Zero { name });
        }
        let end = self.begin_bytes.checked_add(self.file_bytes);
        if end.is_none_or(|end| end > MAX_FILE_BYTES) {
            return Err(InvalidJob::TooLarge);
        }
        if self.record_bytes as u64 > self.file_bytes {
            return Err(InvalidJob::RecordLargerThanFile {
                record_bytes: self.record_bytes,
                file_bytes: self.file_bytes,
            });
        }
        let unaligned = |bytes: u64| bytes % PAGE_BYTES as u64 != 0;
        match [sizes[0], sizes[1], ("begin_bytes", self.begin_bytes)]
            .into_iter()
            .find(|(_, bytes)| self.direct && unaligned(*bytes))
        {
            Some((name, bytes)) => Err(InvalidJob::Unaligned { name, bytes }),
            None => Ok(()),
        }
    }

    fn validate_ranges(&self) -> Result<(), InvalidJob> {
        let out_of_range = |name, found, allowed| {
            Err(InvalidJob::OutOfRange {
                name,
                found,
                allowed,
            })
        };
        if !(0.0..=1.0).contains(&self.compressible) {
            return out_of_range("compressible", self.compressible, "0 to 1");
        }
        match self.pace {
            Pace::RateLimited { per_second } | Pace::OpenLoop { per_second, .. }
                if !per_second.is_finite() || per_second < MIN_RATE =>
            {
                return out_of_range("rate", per_second, "1e-9 records a second or more");
            }
            Pace::SlowedDown { share } if !(0.0..1.0).contains(&share) => {
                return out_of_range("slow_down", share, "0 or more and less than 1");
            }
            _ => {}
        }
        match (self.order, self.operation) {
            (Order::Zipf { exponent }, _) if !exponent.is_finite() || exponent <= 0.0 => {
                out_of_range("zipf_exponent", exponent, "more than 0")
            }
            (_, Operation::Mix { read_percent }) if read_percent > 100 => {
                out_of_range("read_percent", f64::from(read_percent), "0 to 100")
            }
            _ => Ok(()),
        }
    }

    /// Reject times beyond the range of a clock, which would cause a panic in a thread.
    fn validate_times(&self) -> Result<(), InvalidJob> {
        let run = match self.length {
            Length::Time(run) => run,
            Length::Pass | Length::Bytes(_) | Length::Endless => Duration::ZERO,
        };
        let think = match self.pace {
            Pace::ThinkTime(pause) => pause,
            Pace::ClosedLoop
            | Pace::SlowedDown { .. }
            | Pace::RateLimited { .. }
            | Pace::OpenLoop { .. } => Duration::ZERO,
        };
        let times = [
            ("seconds", run),
            ("ramp_seconds", self.ramp),
            ("think_seconds", think),
        ];
        match times.into_iter().find(|(_, time)| *time > MAX_DURATION) {
            Some((name, time)) => Err(InvalidJob::OutOfRange {
                name,
                found: time.as_secs_f64(),
                allowed: "up to 1e9 seconds",
            }),
            None => Ok(()),
        }
    }

    fn validate_method(&self) -> Result<(), InvalidJob> {
        let Method::IoUring(ring) = self.method else {
            return Ok(());
        };
        let out_of_range = |name, found, allowed| {
            Err(InvalidJob::OutOfRange {
                name,
                found: f64::from(found),
                allowed,
            })
        };
        if !(1..=MAX_DEPTH).contains(&ring.depth) {
            return out_of_range("depth", ring.depth, "1 to 4096");
        }
        if !(1..=ring.depth).contains(&ring.batch) {
            return out_of_range("submit_batch", ring.batch, "1 to depth");
        }
        if ring.iopoll && !self.direct {
            return Err(InvalidJob::BufferedPolling);
        }
        Ok(())
    }

    /// A slow-down is exact only if nothing progresses while the thread waits: no other threads, no
    /// other records in flight, no read-ahead or write-back of the page cache.
    fn validate_slowdown(&self) -> Result<(), InvalidJob> {
        let in_flight = match self.method {
            Method::IoUring(ring) => ring.depth,
            Method::Positioned | Method::Seek | Method::Stdio => 1,
        };
        let alone = self.threads.len() == 1 && in_flight == 1 && self.direct;
        match self.pace {
            Pace::SlowedDown { .. } if !alone => Err(InvalidJob::InexactSlowdown),
            _ => Ok(()),
        }
    }

    fn validate_writing(&self) -> Result<(), InvalidJob> {
        if self.create && self.operation.reads() {
            return Err(InvalidJob::NothingToRead);
        }
        if self.method == Method::Stdio && matches!(self.operation, Operation::Mix { .. }) {
            return Err(InvalidJob::MixedStdio);
        }
        let requested = [
            ("dsync", self.dsync),
            ("sync", self.sync.is_some()),
            ("allocate", self.allocate),
        ];
        match requested
            .into_iter()
            .find(|(_, is_requested)| *is_requested)
        {
            Some((name, _)) if !self.operation.writes() => {
                Err(InvalidJob::WriteOnlyOption { name })
            }
            _ => Ok(()),
        }
    }
}
