//! What is asked for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use iostudy_pattern::PAGE_BYTES;
use thiserror::Error;

use crate::compute::Compute;
use crate::layout::Layout;

/// Jobs that read the events of files.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The files; job `j` reads the one at `j` modulo their number. The position of each goes into
    /// its content.
    pub paths: Vec<PathBuf>,
    /// How many jobs, each a thread.
    pub jobs: usize,
    /// How many events there are for each job; those of jobs with the same file follow each other.
    pub events_per_job: u64,
    /// How an event lies in its file.
    pub layout: Layout,
    /// What is done with an event after it is read.
    pub compute: Compute,
    /// When the jobs end even though there are events left.
    pub time: Option<Duration>,
    /// `O_DIRECT`, past the page cache.
    pub direct: bool,
    /// What content and gaps are made from.
    pub seed: u64,
}

/// Why a workload cannot be carried out as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Invalid {
    /// A number that has to be more than zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Which one.
        name: &'static str,
    },
    /// A file that nobody reads.
    #[error("there are {files} files for {jobs} jobs; give at most as many files as jobs")]
    MoreFilesThanJobs {
        /// As asked for.
        files: usize,
        /// As asked for.
        jobs: usize,
    },
    /// An event that cannot be cut into so many pieces.
    #[error("{reads} reads of an event that has {grains} of {grain_bytes} bytes; make fewer")]
    MoreReadsThanGrains {
        /// As asked for.
        reads: usize,
        /// In how many pieces the event can be cut.
        grains: usize,
        /// How small a piece can be.
        grain_bytes: usize,
    },
    /// `O_DIRECT` moves whole pages only.
    #[error("{name} is {bytes}; direct I/O needs a multiple of {PAGE_BYTES}")]
    Unaligned {
        /// Which one.
        name: &'static str,
        /// As asked for.
        bytes: u64,
    },
    /// Files larger than the kernel has offsets for.
    #[error("the files are larger than any file can be; give fewer or smaller events")]
    TooLarge,
}

impl Workload {
    /// Check that it can work at all; nothing is touched.
    ///
    /// # Errors
    ///
    /// The first reason why it cannot.
    pub fn validate(&self) -> Result<(), Invalid> {
        self.validate_numbers()?;
        self.validate_event()?;
        match self.file_bytes_if_possible() {
            Some(bytes) if i64::try_from(bytes).is_ok() => Ok(()),
            _ => Err(Invalid::TooLarge),
        }
    }

    fn validate_numbers(&self) -> Result<(), Invalid> {
        let numbers = [
            ("the number of files", self.paths.is_empty()),
            ("jobs", self.jobs == 0),
            ("events_per_job", self.events_per_job == 0),
            ("event_bytes", self.layout.event_bytes == 0),
            ("reads", self.layout.reads == 0),
        ];
        if let Some((name, _)) = numbers.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(Invalid::Zero { name });
        }
        let (files, jobs) = (self.paths.len(), self.jobs);
        if files > jobs {
            return Err(Invalid::MoreFilesThanJobs { files, jobs });
        }
        Ok(())
    }

    fn validate_event(&self) -> Result<(), Invalid> {
        let grain_bytes = self.grain_bytes();
        let (reads, grains) = (self.layout.reads, self.layout.event_bytes / grain_bytes);
        if reads > grains {
            return Err(Invalid::MoreReadsThanGrains {
                reads,
                grains,
                grain_bytes,
            });
        }
        let sizes = [
            ("event_bytes", self.layout.event_bytes as u64),
            ("gap_bytes", self.layout.gap_bytes),
        ];
        let unaligned = |(_, bytes): &(_, u64)| bytes % grain_bytes as u64 != 0;
        match sizes.into_iter().find(unaligned) {
            Some((name, bytes)) => Err(Invalid::Unaligned { name, bytes }),
            None => Ok(()),
        }
    }

    /// What pieces and gaps are multiples of.
    pub(crate) fn grain_bytes(&self) -> usize {
        if self.direct { PAGE_BYTES } else { 1 }
    }

    /// The size that each file has: room for the events of every job that reads it.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes_if_possible().unwrap_or(u64::MAX)
    }

    fn file_bytes_if_possible(&self) -> Option<u64> {
        let sharers = self.jobs.div_ceil(self.paths.len()) as u64;
        let events = self.events_per_job.checked_mul(sharers)?;
        let event = (self.layout.event_bytes as u64).checked_add(self.layout.gap_bytes)?;
        events.checked_mul(event)
    }

    /// The number of the file that a job reads.
    pub(crate) fn file_of(&self, job: usize) -> usize {
        job % self.paths.len()
    }

    pub(crate) fn path_of(&self, job: usize) -> &Path {
        &self.paths[self.file_of(job)]
    }

    /// The first event of a job in its file.
    pub(crate) fn first_event_of(&self, job: usize) -> u64 {
        (job / self.paths.len()) as u64 * self.events_per_job
    }
}
