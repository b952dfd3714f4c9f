//! Log segment: one file of the log in one directory.
//!
//! It is `edits-inprogress-FIRST` while open, and `edits-FIRST-LAST` once finalized.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use iostudy_files::write_all;
use rustix::fs::{Mode, OFlags, fdatasync, fsync, ftruncate, open};
use rustix::io::{pwrite, retry_on_intr};

use crate::directory::{list_names, sync_directory};
use crate::error::Fault;

const MAGIC: &[u8; 8] = b"iostudy1";
/// The magic and the first transaction.
pub(crate) const HEADER: usize = 16;
const IN_PROGRESS: &str = "edits-inprogress-";
const FINALIZED: &str = "edits-";

/// Durability of log writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncPolicy {
    /// fdatasync after each batch.
    Fdatasync,
    /// `O_DSYNC`: a write is durable when it returns.
    Dsync,
    /// No sync: a crash of the machine loses acknowledged transactions.
    None,
}

/// Open segment.
pub(crate) struct Segment {
    path: PathBuf,
    file: OwnedFd,
    first: u64,
    sync: SyncPolicy,
    written: u64,
    /// End of the preallocated range.
    preallocated_bytes: u64,
    /// Zeros of one preallocation step; empty for none.
    zeros: Vec<u8>,
}

impl Segment {
    /// Create a segment in `directory` whose first transaction is `first`.
    pub(crate) fn create(
        directory: &Path,
        first: u64,
        sync: SyncPolicy,
        preallocate: usize,
    ) -> Result<Self, Fault> {
        let path = directory.join(format!("{IN_PROGRESS}{first}"));
        let mut flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        if sync == SyncPolicy::Dsync {
            flags |= OFlags::DSYNC;
        }
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let file =
            retry_on_intr(|| open(&path, flags, mode)).map_err(Fault::in_call(&path, "open"))?;
        let mut segment = Self {
            file,
            first,
            sync,
            written: 0,
            preallocated_bytes: 0,
            zeros: vec![0; preallocate],
            path,
        };
        segment.append(&header(first))?;
        segment.flush()?;
        sync_directory(directory)?;
        Ok(segment)
    }

    /// Directory of the segment.
    pub(crate) fn directory(&self) -> &Path {
        self.path.parent().expect("a segment has a directory")
    }

    /// Append a batch and sync it as configured.
    pub(crate) fn append(&mut self, batch: &[u8]) -> Result<(), Fault> {
        let end = self.written + batch.len() as u64;
        while !self.zeros.is_empty() && self.preallocated_bytes < end {
            self.write_at(&self.zeros, self.preallocated_bytes)?;
            self.preallocated_bytes += self.zeros.len() as u64;
        }
        self.write_at(batch, self.written)?;
        self.written = end;
        if self.sync == SyncPolicy::Fdatasync {
            self.flush()?;
        }
        Ok(())
    }

    /// Truncate the preallocated space, make the segment durable, and finalize its name.
    pub(crate) fn finish(&self, last: u64) -> Result<(), Fault> {
        let in_call = |call| Fault::in_call(&self.path, call);
        retry_on_intr(|| ftruncate(&self.file, self.written)).map_err(in_call("ftruncate"))?;
        retry_on_intr(|| fsync(&self.file)).map_err(in_call("fsync"))?;
        let finalized = self
            .path
            .with_file_name(format!("{FINALIZED}{}-{last}", self.first));
        fs::rename(&self.path, &finalized).map_err(Fault::from_io_error(&self.path, "rename"))?;
        sync_directory(self.directory())
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> Result<(), Fault> {
        let written = write_all(bytes, at, |rest, at| pwrite(&self.file, rest, at));
        written.map_err(|error| Fault::in_call(&self.path, "pwrite")(error.errno))
    }

    fn flush(&self) -> Result<(), Fault> {
        retry_on_intr(|| fdatasync(&self.file)).map_err(Fault::in_call(&self.path, "fdatasync"))
    }
}

/// Segment file in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentFile {
    pub(crate) path: PathBuf,
    pub(crate) first: u64,
    /// `None` while the segment is in progress.
    pub(crate) last: Option<u64>,
}

impl SegmentFile {
    /// Whether the segment may contain the transaction.
    pub(crate) fn may_contain(&self, transaction: u64) -> bool {
        self.first <= transaction && self.last.is_none_or(|last| transaction <= last)
    }

    /// Last transaction that was durable before this file got its name.
    pub(crate) fn durable_before(&self) -> u64 {
        self.last.unwrap_or(self.first.saturating_sub(1))
    }

    /// Whether a segment with this last transaction is complete.
    pub(crate) fn ends_at(&self, transaction: u64) -> bool {
        self.last.is_none_or(|last| last == transaction)
    }
}

/// List the segments in `directory`.
pub(crate) fn list_segments(directory: &Path) -> Result<Vec<SegmentFile>, Fault> {
    let numbers = |name: &str| -> Option<(u64, Option<u64>)> {
        if let Some(first) = name.strip_prefix(IN_PROGRESS) {
            return Some((first.parse().ok()?, None));
        }
        let (first, last) = name.strip_prefix(FINALIZED)?.split_once('-')?;
        Some((first.parse().ok()?, Some(last.parse().ok()?)))
    };
    let mut found = Vec::new();
    for name in list_names(directory)? {
        if let Some((first, last)) = numbers(&name) {
            found.push(SegmentFile {
                path: directory.join(&name),
                first,
                last,
            });
        }
    }
    Ok(found)
}

/// Whether `bytes` start with the header of a segment.
pub(crate) fn has_header(bytes: &[u8], first: u64) -> bool {
    bytes.starts_with(&header(first))
}

fn header(first: u64) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..MAGIC.len()].copy_from_slice(MAGIC);
    header[MAGIC.len()..].copy_from_slice(&first.to_le_bytes());
    header
}
