//! What is asked of the engine.

use std::path::PathBuf;

use iostudy_pattern::PAGE_BYTES;
use thiserror::Error;

/// What is done with each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Create or truncate it and write it from start to end.
    Write {
        /// End with fsync, inside the file's measured time.
        fsync: bool,
    },
    /// Read it from start to end and verify what it holds.
    Read,
}

/// Files to be moved, one thread each.
#[derive(Debug, Clone)]
pub struct Job {
    /// The files; the position of each goes into its content.
    pub paths: Vec<PathBuf>,
    /// What is done with each.
    pub operation: Operation,
    /// The size of each.
    pub file_bytes: u64,
    /// The bytes of one system call.
    pub record_bytes: usize,
    /// `O_DIRECT`, past the page cache.
    pub direct: bool,
    /// What the content is made from, beside the file's position.
    pub seed: u64,
}

/// Why a job cannot be carried out as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Invalid {
    /// There is nothing to do.
    #[error("no paths given; give at least one")]
    NoPaths,
    /// A size of zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Which one.
        name: &'static str,
    },
    /// A record that does not fit into a file.
    #[error("record_bytes is {record_bytes}, more than file_bytes, {file_bytes}; make it smaller")]
    RecordLargerThanFile {
        /// As asked for.
        record_bytes: usize,
        /// As asked for.
        file_bytes: u64,
    },
    /// `O_DIRECT` moves whole pages only.
    #[error("{name} is {bytes}; direct I/O needs a multiple of {PAGE_BYTES}")]
    Unaligned {
        /// Which one.
        name: &'static str,
        /// As asked for.
        bytes: u64,
    },
}

impl Job {
    /// Check that the job can work at all; nothing is touched.
    ///
    /// # Errors
    ///
    /// The first reason why it cannot.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.paths.is_empty() {
            return Err(Invalid::NoPaths);
        }
        let sizes = [
            ("file_bytes", self.file_bytes),
            ("record_bytes", self.record_bytes as u64),
        ];
        if let Some((name, _)) = sizes.into_iter().find(|(_, bytes)| *bytes == 0) {
            return Err(Invalid::Zero { name });
        }
        if self.record_bytes as u64 > self.file_bytes {
            return Err(Invalid::RecordLargerThanFile {
                record_bytes: self.record_bytes,
                file_bytes: self.file_bytes,
            });
        }
        let unaligned = |bytes: u64| bytes % PAGE_BYTES as u64 != 0;
        match sizes
            .into_iter()
            .find(|(_, bytes)| self.direct && unaligned(*bytes))
        {
            Some((name, bytes)) => Err(Invalid::Unaligned { name, bytes }),
            None => Ok(()),
        }
    }
}
