//! What is asked of the engine.

use std::path::PathBuf;
use std::time::Duration;

use iostudy_pattern::{Layout, Order, PAGE_BYTES};

use crate::invalid::Invalid;

/// What is done with the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Write each with the content it should have.
    Write,
    /// Read each and verify it.
    Read,
    /// Read so many percent of them, chosen at random, and write the others.
    Mix {
        /// 0 to 100.
        read_percent: u8,
    },
}

impl Operation {
    /// Whether any record may be written.
    #[must_use]
    pub fn writes(self) -> bool {
        self != Self::Read
    }

    /// Whether any record may be read.
    #[must_use]
    pub fn reads(self) -> bool {
        self != Self::Write
    }
}

/// When a thread has done enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Each record of the order once.
    Pass,
    /// So many bytes, in whole records, in as many passes as that takes.
    Bytes(u64),
    /// So long, not counting the ramp.
    Time(Duration),
}

/// How records get to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// pread(2) and pwrite(2), one record after the other.
    Positioned,
    /// read(2) and write(2), after an lseek(2) where the file's position is not the record's.
    Seek,
    /// fread(3) and fwrite(3) of the C library, with its own buffer, flushed after the last record.
    /// A sync in between brings to the disk what the library has handed over, and no more.
    Stdio,
    /// `io_uring(7)`, with several records under way; [`Method::Positioned`] where the kernel
    /// forbids it, which the result tells.
    IoUring(Ring),
}

/// The most records that a thread may have under way: no device is known that gains from more.
const MOST_UNDER_WAY: u32 = 4096;

/// The last offset that the kernel knows.
const LARGEST_FILE: u64 = i64::MAX as u64;

/// The longest time that may be asked for; a clock counts much further.
const LONGEST: Duration = Duration::from_secs(1_000_000_000);

/// The lowest rate that may be asked for, which is a record in the longest time.
const LOWEST_RATE: f64 = 1e-9;

/// How a thread uses its `io_uring`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// How many records are under way at once.
    pub depth: u32,
    /// For how many records to end the thread waits before it begins as many others, with one
    /// system call for all.
    pub batch: u32,
    /// A thread of the kernel takes the records, so that no system call is needed to begin one.
    pub sqpoll: bool,
    /// Ask the device whether records have ended instead of waiting for its interrupts.
    pub iopoll: bool,
}

/// The call that brings written data to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncCall {
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
}

/// When written data are brought to the disk: at the end of every file, inside the measured time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sync {
    /// By which call.
    pub call: SyncCall,
    /// Also after every so many records that a thread has written, the file of the last one; 0 for
    /// at the end alone.
    pub every_records: u64,
}

/// What the kernel is told of the way a file will be used, by `posix_fadvise(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// From start to end: a larger read-ahead.
    Sequential,
    /// Here and there: no read-ahead.
    Random,
    /// Each part once.
    NoReuse,
    /// All of it, soon.
    WillNeed,
    /// What is in the page cache now is not needed.
    DontNeed,
}

/// When a thread begins its records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each as soon as the one before it has ended.
    Free,
    /// So long after the one before it has ended; all that may be under way begin then.
    Think(Duration),
    /// As soon as the one before it has ended and the thread has waited for this share of its time,
    /// that of opening, syncing and closing its files included: a rate that is lower by exactly
    /// this share, however fast the storage is.
    Slowed {
        /// More than 0, less than 1.
        share: f64,
    },
    /// At most so many a second.
    Limited {
        /// 1e-9 or more.
        per_second: f64,
    },
    /// So many a second arrive, whether or not those before have ended; a latency counts from the
    /// arrival, so that a record that had to wait is not taken for a quick one.
    Open {
        /// 1e-9 or more.
        per_second: f64,
        /// Arrivals are a Poisson process; otherwise they are evenly spaced.
        poisson: bool,
    },
}

/// Files whose records are moved by threads.
#[allow(clippy::struct_excessive_bools)] // each is a flag of open(2), or may be left out
#[derive(Debug, Clone)]
pub struct Job {
    /// The files of each thread. The position of each among all files goes into its content.
    pub threads: Vec<Vec<PathBuf>>,
    /// What is done with the records.
    pub operation: Operation,
    /// Create the files, or cut them to nothing; otherwise they must be there.
    pub create: bool,
    /// Where in each file the first record begins.
    pub begin_bytes: u64,
    /// Over how many bytes of each file the records go.
    pub file_bytes: u64,
    /// The bytes of one record.
    pub record_bytes: usize,
    /// In which order records are taken, over all files of a thread.
    pub order: Order,
    /// When a thread has done enough.
    pub length: Length,
    /// What ends in this time from the start is done, but not counted.
    pub ramp: Duration,
    /// How records get to the kernel.
    pub method: Method,
    /// `O_DIRECT`, past the page cache.
    pub direct: bool,
    /// `O_DSYNC`: every write returns with its data on the disk.
    pub dsync: bool,
    /// When written data are brought to the disk.
    pub sync: Option<Sync>,
    /// Give every file its room by fallocate(2) before the first record.
    pub allocate: bool,
    /// What the kernel is told of the way the files will be used.
    pub advice: Option<Advice>,
    /// When a thread begins its records.
    pub pace: Pace,
    /// The share of the content that compresses to nothing, 0 to 1.
    pub compressible: f64,
    /// Compare what is read with what was written.
    pub verify: bool,
    /// What content, random orders and arrivals are made from.
    pub seed: u64,
}

impl Job {
    /// Where the records of a thread lie.
    pub(crate) fn layout(&self, thread: usize) -> Layout {
        Layout {
            files: self.threads[thread].len(),
            begin: self.begin_bytes,
            bytes: self.file_bytes,
            record_bytes: self.record_bytes,
        }
    }

    /// The position of a thread's file among all files.
    pub(crate) fn file_number(&self, thread: usize, file: usize) -> u64 {
        let before: usize = self.threads[..thread].iter().map(Vec::len).sum();
        (before + file) as u64
    }

    /// Check that the job can work at all; nothing is touched.
    ///
    /// # Errors
    ///
    /// The first reason why it cannot.
    pub fn validate(&self) -> Result<(), Invalid> {
        self.validate_threads()?;
        self.validate_sizes()?;
        self.validate_ranges()?;
        self.validate_times()?;
        self.validate_method()?;
        self.validate_slowness()?;
        self.validate_writing()
    }

    fn validate_threads(&self) -> Result<(), Invalid> {
        let counts: Vec<usize> = self.threads.iter().map(Vec::len).collect();
        let wanted = counts.first().copied().unwrap_or(0);
        if wanted == 0 {
            return Err(Invalid::NoPaths);
        }
        match counts.iter().position(|count| *count != wanted) {
            Some(thread) => Err(Invalid::UnequalThreads {
                thread,
                found: counts[thread],
                wanted,
            }),
            None => Ok(()),
        }
    }

    fn validate_sizes(&self) -> Result<(), Invalid> {
        let sizes = [
            ("file_bytes", self.file_bytes),
            ("record_bytes", self.record_bytes as u64),
        ];
        let total = match self.length {
            Length::Bytes(bytes) => Some(("total_bytes", bytes)),
            Length::Pass | Length::Time(_) => None,
        };
        let is_zero = |(_, bytes): &(_, u64)| *bytes == 0;
        if let Some((name, _)) = sizes.into_iter().chain(total).find(is_zero) {
            return Err(Invalid::Zero { name });
        }
        let end = self.begin_bytes.checked_add(self.file_bytes);
        if end.is_none_or(|end| end > LARGEST_FILE) {
            return Err(Invalid::TooLarge);
        }
        if self.record_bytes as u64 > self.file_bytes {
            return Err(Invalid::RecordLargerThanFile {
                record_bytes: self.record_bytes,
                file_bytes: self.file_bytes,
            });
        }
        let unaligned = |bytes: u64| bytes % PAGE_BYTES as u64 != 0;
        match [sizes[0], sizes[1], ("begin_bytes", self.begin_bytes)]
            .into_iter()
            .find(|(_, bytes)| self.direct && unaligned(*bytes))
        {
            Some((name, bytes)) => Err(Invalid::Unaligned { name, bytes }),
            None => Ok(()),
        }
    }

    fn validate_ranges(&self) -> Result<(), Invalid> {
        let out_of_range = |name, found, allowed| {
            Err(Invalid::OutOfRange {
                name,
                found,
                allowed,
            })
        };
        if !(0.0..=1.0).contains(&self.compressible) {
            return out_of_range("compressible", self.compressible, "0 to 1");
        }
        match self.pace {
            Pace::Limited { per_second } | Pace::Open { per_second, .. }
                if !per_second.is_finite() || per_second < LOWEST_RATE =>
            {
                return out_of_range("rate", per_second, "1e-9 records a second or more");
            }
            Pace::Slowed { share } if !(share > 0.0 && share < 1.0) => {
                return out_of_range("slow_down", share, "more than 0 and less than 1");
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

    /// Times that no clock can be set forward by would end a thread in a panic.
    fn validate_times(&self) -> Result<(), Invalid> {
        let run = match self.length {
            Length::Time(run) => run,
            Length::Pass | Length::Bytes(_) => Duration::ZERO,
        };
        let think = match self.pace {
            Pace::Think(pause) => pause,
            Pace::Free | Pace::Slowed { .. } | Pace::Limited { .. } | Pace::Open { .. } => {
                Duration::ZERO
            }
        };
        let times = [
            ("seconds", run),
            ("ramp_seconds", self.ramp),
            ("think_seconds", think),
        ];
        match times.into_iter().find(|(_, time)| *time > LONGEST) {
            Some((name, time)) => Err(Invalid::OutOfRange {
                name,
                found: time.as_secs_f64(),
                allowed: "up to 1e9 seconds",
            }),
            None => Ok(()),
        }
    }

    fn validate_method(&self) -> Result<(), Invalid> {
        let Method::IoUring(ring) = self.method else {
            return Ok(());
        };
        let out_of_range = |name, found, allowed| {
            Err(Invalid::OutOfRange {
                name,
                found: f64::from(found),
                allowed,
            })
        };
        if !(1..=MOST_UNDER_WAY).contains(&ring.depth) {
            return out_of_range("depth", ring.depth, "1 to 4096");
        }
        if !(1..=ring.depth).contains(&ring.batch) {
            return out_of_range("submit_batch", ring.batch, "1 to depth");
        }
        if ring.iopoll && !self.direct {
            return Err(Invalid::PollsCache);
        }
        Ok(())
    }

    /// While a thread waits nothing else may go on that its next record gains from: another thread's
    /// records, others under way, or what the kernel reads ahead or writes out of the page cache.
    fn validate_slowness(&self) -> Result<(), Invalid> {
        let under_way = match self.method {
            Method::IoUring(ring) => ring.depth,
            Method::Positioned | Method::Seek | Method::Stdio => 1,
        };
        let alone = self.threads.len() == 1 && under_way == 1 && self.direct;
        match self.pace {
            Pace::Slowed { .. } if !alone => Err(Invalid::NotSlowedExactly),
            _ => Ok(()),
        }
    }

    fn validate_writing(&self) -> Result<(), Invalid> {
        if self.create && self.operation.reads() {
            return Err(Invalid::NothingToRead);
        }
        if self.method == Method::Stdio && matches!(self.operation, Operation::Mix { .. }) {
            return Err(Invalid::MixByStdio);
        }
        let asked = [
            ("dsync", self.dsync),
            ("sync", self.sync.is_some()),
            ("allocate", self.allocate),
        ];
        match asked.into_iter().find(|(_, is_asked)| *is_asked) {
            Some((name, _)) if !self.operation.writes() => Err(Invalid::OfWrites { name }),
            _ => Ok(()),
        }
    }
}
