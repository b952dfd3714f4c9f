//! One file of the log in one directory: records from its first transaction on.
//!
//! `edits-inprogress-FIRST` while it is written to, `edits-FIRST-LAST` once it is whole.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use iostudy_files::write_all;
use rustix::fs::{Mode, OFlags, fdatasync, fsync, ftruncate, open};
use rustix::io::{pwrite, retry_on_intr};

use crate::directory::{names, sync_directory};
use crate::error::Fault;

const MAGIC: &[u8; 8] = b"iostudy1";
/// The magic and the first transaction.
pub(crate) const HEADER: usize = 16;
const IN_PROGRESS: &str = "edits-inprogress-";
const WHOLE: &str = "edits-";

/// When a write to a log is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// After fdatasync, once for each batch.
    Fdatasync,
    /// When write returns: the file is opened with `O_DSYNC`.
    Dsync,
    /// When the system likes: a crash of the machine loses what was acknowledged.
    None,
}

/// The file that is written to.
pub(crate) struct Segment {
    path: PathBuf,
    file: OwnedFd,
    first: u64,
    sync: Sync,
    written: u64,
    /// Up to where the file was filled with zeros beforehand.
    filled: u64,
    /// In such pieces; empty for none.
    filling: Vec<u8>,
}

impl Segment {
    /// Begin a segment in `directory` with `first` as its first transaction.
    pub(crate) fn begin(
        directory: &Path,
        first: u64,
        sync: Sync,
        preallocate: usize,
    ) -> Result<Self, Fault> {
        let path = directory.join(format!("{IN_PROGRESS}{first}"));
        let mut flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        if sync == Sync::Dsync {
            flags |= OFlags::DSYNC;
        }
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let file = retry_on_intr(|| open(&path, flags, mode)).map_err(Fault::of(&path, "open"))?;
        let mut segment = Self {
            file,
            first,
            sync,
            written: 0,
            filled: 0,
            filling: vec![0; preallocate],
            path,
        };
        segment.append(&header(first))?;
        segment.flush()?;
        sync_directory(directory)?;
        Ok(segment)
    }

    /// Where it lies.
    pub(crate) fn directory(&self) -> &Path {
        self.path.parent().expect("it lies in a directory")
    }

    /// Write a batch behind what is there, and make it durable as was asked for.
    pub(crate) fn append(&mut self, batch: &[u8]) -> Result<(), Fault> {
        let end = self.written + batch.len() as u64;
        while !self.filling.is_empty() && self.filled < end {
            self.write_at(&self.filling, self.filled)?;
            self.filled += self.filling.len() as u64;
        }
        self.write_at(batch, self.written)?;
        self.written = end;
        if self.sync == Sync::Fdatasync {
            self.flush()?;
        }
        Ok(())
    }

    /// Cut off what was filled beforehand, make it durable, and name it after its `last`.
    pub(crate) fn finish(&self, last: u64) -> Result<(), Fault> {
        let of = |call| Fault::of(&self.path, call);
        retry_on_intr(|| ftruncate(&self.file, self.written)).map_err(of("ftruncate"))?;
        retry_on_intr(|| fsync(&self.file)).map_err(of("fsync"))?;
        let whole = self
            .path
            .with_file_name(format!("{WHOLE}{}-{last}", self.first));
        fs::rename(&self.path, &whole).map_err(Fault::of_std(&self.path, "rename"))?;
        sync_directory(self.directory())
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> Result<(), Fault> {
        let wrote = write_all(bytes, at, |rest, at| pwrite(&self.file, rest, at));
        wrote.map_err(|refused| Fault::of(&self.path, "pwrite")(refused.errno))
    }

    fn flush(&self) -> Result<(), Fault> {
        retry_on_intr(|| fdatasync(&self.file)).map_err(Fault::of(&self.path, "fdatasync"))
    }
}

/// A segment that lies in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lying {
    pub(crate) path: PathBuf,
    pub(crate) first: u64,
    /// None while it is in progress.
    pub(crate) last: Option<u64>,
}

impl Lying {
    /// Whether the transaction may lie in it.
    pub(crate) fn may_hold(&self, transaction: u64) -> bool {
        self.first <= transaction && self.last.is_none_or(|last| transaction <= last)
    }

    /// The last transaction that was durable before there was this file, or before it had its name.
    pub(crate) fn follows(&self) -> u64 {
        self.last.unwrap_or(self.first.saturating_sub(1))
    }

    /// Whether a segment in which that transaction is the last is whole.
    pub(crate) fn ends_at(&self, transaction: u64) -> bool {
        self.last.is_none_or(|last| last == transaction)
    }
}

/// The segments in `directory`.
pub(crate) fn lying(directory: &Path) -> Result<Vec<Lying>, Fault> {
    let numbers = |name: &str| -> Option<(u64, Option<u64>)> {
        if let Some(first) = name.strip_prefix(IN_PROGRESS) {
            return Some((first.parse().ok()?, None));
        }
        let (first, last) = name.strip_prefix(WHOLE)?.split_once('-')?;
        Some((first.parse().ok()?, Some(last.parse().ok()?)))
    };
    let mut found = Vec::new();
    for name in names(directory)? {
        if let Some((first, last)) = numbers(&name) {
            found.push(Lying {
                path: directory.join(&name),
                first,
                last,
            });
        }
    }
    Ok(found)
}

/// Whether a segment begins as one with that first transaction does.
pub(crate) fn has_header(bytes: &[u8], first: u64) -> bool {
    bytes.starts_with(&header(first))
}

fn header(first: u64) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..MAGIC.len()].copy_from_slice(MAGIC);
    header[MAGIC.len()..].copy_from_slice(&first.to_le_bytes());
    header
}
