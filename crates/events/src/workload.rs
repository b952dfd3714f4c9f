//! Definition and validation of event workloads.

use std::path::{Path, PathBuf};
use std::time::Duration;

use iostudy_pattern::PAGE_BYTES;
use thiserror::Error;

use crate::compute::Compute;
use crate::layout::Layout;

/// Workload of jobs that read events of files.
#[derive(Debug, Clone)]
pub struct Workload {
    /// Files; job `j` reads the file at `j` modulo their number. The position of a file determines
    /// its content.
    pub paths: Vec<PathBuf>,
    /// Number of jobs, one thread each.
    pub jobs: usize,
    /// Events per job; jobs of one file read consecutive ranges of events.
    pub events_per_job: u64,
    /// Layout of an event in its file.
    pub layout: Layout,
    /// Computation after reading an event.
    pub compute: Compute,
    /// Time limit of the jobs.
    pub time: Option<Duration>,
    /// `O_DIRECT`: bypass the page cache.
    pub direct: bool,
    /// Seed of content and gaps.
    pub seed: u64,
}

/// Reasons why a workload is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidWorkload {
    /// A number is zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Name of the option.
        name: &'static str,
    },
    /// A file has no job.
    #[error("there are {files} files for {jobs} jobs; give at most as many files as jobs")]
    MoreFilesThanJobs {
        /// Requested value.
        files: usize,
        /// Requested value.
        jobs: usize,
    },
    /// An event has fewer units than reads.
    #[error("{reads} reads of an event that has {units} of {unit_bytes} bytes; make fewer")]
    MoreReadsThanUnits {
        /// Requested value.
        reads: usize,
        /// Number of units of the event.
        units: usize,
        /// Size of the smallest piece in bytes.
        unit_bytes: usize,
    },
    /// `O_DIRECT` transfers whole pages only.
    #[error("{name} is {bytes}; direct I/O needs a multiple of {PAGE_BYTES}")]
    Unaligned {
        /// Name of the option.
        name: &'static str,
        /// Requested value.
        bytes: u64,
    },
    /// The files exceed the kernel's largest offset.
    #[error("the files are larger than any file can be; give fewer or smaller events")]
    TooLarge,
}

impl Workload {
    /// Check the workload without touching any file.
    ///
    /// # Errors
    ///
    /// The first reason why the workload is invalid.
    pub fn validate(&self) -> Result<(), InvalidWorkload> {
        self.validate_numbers()?;
        self.validate_event()?;
        match self.checked_file_bytes() {
            Some(bytes) if i64::try_from(bytes).is_ok() => Ok(()),
            _ => Err(InvalidWorkload::TooLarge),
        }
    }

    fn validate_numbers(&self) -> Result<(), InvalidWorkload> {
        let numbers = [
            ("the number of files", self.paths.is_empty()),
            ("jobs", self.jobs == 0),
            ("events_per_job", self.events_per_job == 0),
            ("event_bytes", self.layout.event_bytes == 0),
            ("reads", self.layout.reads == 0),
        ];
        if let Some((name, _)) = numbers.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(InvalidWorkload::Zero { name });
        }
        let (files, jobs) = (self.paths.len(), self.jobs);
        if files > jobs {
            return Err(InvalidWorkload::MoreFilesThanJobs { files, jobs });
        }
        Ok(())
    }

    fn validate_event(&self) -> Result<(), InvalidWorkload> {
        let unit_bytes = self.unit_bytes();
        let (reads, units) = (self.layout.reads, self.layout.event_bytes / unit_bytes);
        if reads > units {
            return Err(InvalidWorkload::MoreReadsThanUnits {
                reads,
                units,
                unit_bytes,
            });
        }
        let sizes = [
            ("event_bytes", self.layout.event_bytes as u64),
            ("gap_bytes", self.layout.gap_bytes),
        ];
        let unaligned = |(_, bytes): &(_, u64)| bytes % unit_bytes as u64 != 0;
        match sizes.into_iter().find(unaligned) {
            Some((name, bytes)) => Err(InvalidWorkload::Unaligned { name, bytes }),
            None => Ok(()),
        }
    }

    /// Unit of pieces and gaps in bytes.
    pub fn unit_bytes(&self) -> usize {
        if self.direct { PAGE_BYTES } else { 1 }
    }

    /// Required size of each file: the events of every job that reads it.
    pub fn file_bytes(&self) -> u64 {
        self.checked_file_bytes().unwrap_or(u64::MAX)
    }

    fn checked_file_bytes(&self) -> Option<u64> {
        let sharers = self.jobs.div_ceil(self.paths.len()) as u64;
        let events = self.events_per_job.checked_mul(sharers)?;
        let event = (self.layout.event_bytes as u64).checked_add(self.layout.gap_bytes)?;
        events.checked_mul(event)
    }

    /// Index of the file that a job reads.
    pub fn file_index(&self, job: usize) -> usize {
        job % self.paths.len()
    }

    pub(crate) fn path(&self, job: usize) -> &Path {
        &self.paths[self.file_index(job)]
    }

    /// First event of a job in its file.
    pub fn first_event(&self, job: usize) -> u64 {
        (job / self.paths.len()) as u64 * self.events_per_job
    }
}
