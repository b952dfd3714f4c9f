//! The system calls that move a single record.

use std::os::fd::BorrowedFd;

use iostudy_files::{read_all, write_all};
use rustix::fs::{SeekFrom, seek};
use rustix::io::{pread, pwrite, read, write};

use crate::error::{Fault, FileFault};

/// How a record gets to the kernel and back. `index` is the file's among those of the thread.
pub(crate) trait Calls {
    /// Write all of it at that offset.
    fn write(
        &mut self,
        index: usize,
        file: BorrowedFd,
        data: &[u8],
        offset: u64,
    ) -> Result<(), Fault>;

    /// Fill it from that offset as far as the file goes; the number of bytes read.
    fn read(
        &mut self,
        index: usize,
        file: BorrowedFd,
        data: &mut [u8],
        offset: u64,
    ) -> Result<usize, Fault>;

    /// Hand over to the kernel what is still held back.
    fn finish(&mut self) -> Result<(), FileFault> {
        Ok(())
    }
}

/// pread(2) and pwrite(2).
pub(crate) struct Positioned;

impl Calls for Positioned {
    #[inline]
    fn write(&mut self, _: usize, file: BorrowedFd, data: &[u8], at: u64) -> Result<(), Fault> {
        write_all(data, at, |data, at| pwrite(file, data, at)).map_err(Fault::at("pwrite"))
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

/// Fill `data` from that offset as far as the file goes; the number of bytes read.
///
/// # Errors
///
/// What the kernel refused, and at which byte.
#[inline]
pub fn read_at(file: BorrowedFd, data: &mut [u8], offset: u64) -> Result<usize, Fault> {
    read_all(data, offset, |data, at| pread(file, data, at)).map_err(Fault::at("pread"))
}

/// read(2) and write(2), after an lseek(2) where the file's position is another one.
pub(crate) struct Seek {
    positions: Vec<u64>,
}

impl Seek {
    /// For so many files, which have just been opened.
    pub(crate) fn new(files: usize) -> Self {
        Self {
            positions: vec![0; files],
        }
    }

    fn go_to(&mut self, index: usize, file: BorrowedFd, record: (u64, usize)) -> Result<(), Fault> {
        let (offset, len) = record;
        if self.positions[index] != offset {
            seek(file, SeekFrom::Start(offset)).map_err(Fault::of("lseek", offset))?;
        }
        self.positions[index] = offset + len as u64;
        Ok(())
    }
}

impl Calls for Seek {
    fn write(&mut self, index: usize, file: BorrowedFd, data: &[u8], at: u64) -> Result<(), Fault> {
        self.go_to(index, file, (at, data.len()))?;
        write_all(data, at, |data, _| write(file, data)).map_err(Fault::at("write"))
    }

    fn read(
        &mut self,
        index: usize,
        file: BorrowedFd,
        data: &mut [u8],
        offset: u64,
    ) -> Result<usize, Fault> {
        self.go_to(index, file, (offset, data.len()))?;
        read_all(data, offset, |data, _| read(file, data)).map_err(Fault::at("read"))
    }
}
