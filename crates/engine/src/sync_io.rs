//! Synchronous system calls that transfer one record.

use std::os::fd::BorrowedFd;

use iostudy_files::{read_all, write_all};
use rustix::fs::{SeekFrom, seek};
use rustix::io::{pread, pwrite, read, write};

use crate::error::{Fault, FileFault};
use crate::job::{Job, SyncCall, SyncPolicy};
use crate::meter::Direction;

/// Synchronous transfer of records. `index` is the file's position among the thread's files.
pub(crate) trait SyncIo {
    /// Write all of `data` at the offset.
    fn write(
        &mut self,
        index: usize,
        file: BorrowedFd,
        data: &[u8],
        offset: u64,
    ) -> Result<(), Fault>;

    /// Fill `data` from the offset up to the end of the file. Return the number of bytes read.
    fn read(
        &mut self,
        index: usize,
        file: BorrowedFd,
        data: &mut [u8],
        offset: u64,
    ) -> Result<usize, Fault>;

    /// Flush user-space buffers to the kernel.
    fn finish(&mut self) -> Result<(), FileFault> {
        Ok(())
    }
}

/// pread(2) and pwrite(2).
pub(crate) struct Positioned;

impl SyncIo for Positioned {
    #[inline]
    fn write(&mut self, _: usize, file: BorrowedFd, data: &[u8], at: u64) -> Result<(), Fault> {
        write_all(data, at, |data, at| pwrite(file, data, at))
            .map_err(Fault::from_call_error("pwrite"))
    }

    #[inline]
    fn read(
        &mut self,
        _: usize,
        file: BorrowedFd,
        data: &mut [u8],
        offset: u64,
    ) -> Result<usize, Fault> {
        read_at(file, data, offset)
    }
}

/// Fill `data` from `offset` up to the end of the file. Return the number of bytes read.
///
/// # Errors
///
/// The errno of the failed call and its offset.
#[inline]
pub fn read_at(file: BorrowedFd, data: &mut [u8], offset: u64) -> Result<usize, Fault> {
    read_all(data, offset, |data, at| pread(file, data, at))
        .map_err(Fault::from_call_error("pread"))
}

/// read(2) and write(2), with lseek(2) where the file position differs.
pub(crate) struct Seek {
    positions: Vec<u64>,
}

impl Seek {
    /// Create the state for `files` newly opened files.
    pub(crate) fn new(files: usize) -> Self {
        Self {
            positions: vec![0; files],
        }
    }

    fn seek_to(
        &mut self,
        index: usize,
        file: BorrowedFd,
        record: (u64, usize),
    ) -> Result<(), Fault> {
        let (offset, len) = record;
        if self.positions[index] != offset {
            seek(file, SeekFrom::Start(offset)).map_err(Fault::in_call("lseek", offset))?;
        }
        self.positions[index] = offset + len as u64;
        Ok(())
    }
}

impl SyncIo for Seek {
    fn write(&mut self, index: usize, file: BorrowedFd, data: &[u8], at: u64) -> Result<(), Fault> {
        self.seek_to(index, file, (at, data.len()))?;
        write_all(data, at, |data, _| write(file, data)).map_err(Fault::from_call_error("write"))
    }

    fn read(
        &mut self,
        index: usize,
        file: BorrowedFd,
        data: &mut [u8],
        offset: u64,
    ) -> Result<usize, Fault> {
        self.seek_to(index, file, (offset, data.len()))?;
        read_all(data, offset, |data, _| read(file, data)).map_err(Fault::from_call_error("read"))
    }
}

/// Counter of written records that determines the next sync.
pub(crate) struct SyncSchedule {
    sync: Option<SyncPolicy>,
    written: u64,
}

impl SyncSchedule {
    /// Create the schedule of the job; it is empty if syncs happen only at the end.
    pub(crate) fn new(job: &Job) -> Self {
        Self {
            sync: job.sync.filter(|sync| sync.every_records > 0),
            written: 0,
        }
    }

    /// Count one record. Return the sync call that is due after it.
    #[inline]
    pub(crate) fn after(&mut self, direction: Direction) -> Option<SyncCall> {
        let sync = self.sync.filter(|_| direction == Direction::Write)?;
        self.written += 1;
        (self.written % sync.every_records == 0).then_some(sync.call)
    }
}
