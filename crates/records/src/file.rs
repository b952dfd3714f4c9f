//! Data files with positioned I/O, cached or direct, and buffers for it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use iostudy_files::{close, open_data, open_own, read_all, write_all};
use iostudy_pattern::{AlignedBuffer, PAGE_BYTES};
use rustix::fs::{OFlags, fstat, fsync, unlink};
use rustix::io::{Errno, pread, pwrite, retry_on_intr};

use crate::error::Fault;

/// Open file with its path for errors.
///
/// Direct I/O transfers whole pages only. Partial pages at the edges use a second, cached
/// descriptor. Each page uses one of the two descriptors, so the kernel keeps them coherent.
pub(crate) struct DataFile {
    path: PathBuf,
    file: OwnedFd,
    edges: Option<OwnedFd>,
}

impl DataFile {
    /// Open an existing file for reading.
    pub(crate) fn open(path: &Path, direct: bool) -> Result<Self, Fault> {
        let cached = open_file(path, OFlags::RDONLY)?;
        Self::with_mode(path, cached, OFlags::RDONLY, direct)
    }

    /// Create or open a file without truncation: several threads may write parts of it.
    pub(crate) fn create(path: &Path, direct: bool) -> Result<Self, Fault> {
        let cached = open_file(path, OFlags::RDWR | OFlags::CREATE)?;
        Self::with_mode(path, cached, OFlags::RDWR, direct)
    }

    /// Create and unlink a file: the kernel removes it with its last descriptor.
    pub(crate) fn create_unlinked(path: &Path, direct: bool) -> Result<Self, Fault> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let cached = open_file(path, flags)?;
        let output = Self::with_mode(path, cached, OFlags::RDWR, direct);
        unlink(path).map_err(Fault::io(path, "unlink"))?;
        output
    }

    /// Use `cached`, or direct I/O with `cached` for the edges.
    fn with_mode(
        path: &Path,
        cached: OwnedFd,
        access: OFlags,
        direct: bool,
    ) -> Result<Self, Fault> {
        let (file, edges) = if direct {
            (open_file(path, access | OFlags::DIRECT)?, Some(cached))
        } else {
            (cached, None)
        };
        Ok(Self {
            path: path.to_owned(),
            file,
            edges,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn size(&self) -> Result<u64, Fault> {
        let found = fstat(&self.file).map_err(Fault::io(&self.path, "fstat"))?;
        Ok(u64::try_from(found.st_size).unwrap_or(0))
    }

    /// Fill `data` up to the end of the file. Return the number of bytes read. Direct reads need
    /// page-aligned `data` and `offset`.
    pub(crate) fn read_at(&self, data: &mut [u8], offset: u64) -> Result<usize, Fault> {
        read_all(data, offset, |data, at| {
            if self.edges.is_some() && in_page(at) != 0 {
                return Ok(0); // a partial page is the end of the file
            }
            pread(&self.file, data, at)
        })
        .map_err(Fault::io_at(&self.path, "pread"))
    }

    /// Write all of `data`. Direct writes need memory and file offset with the same alignment
    /// within a page.
    pub(crate) fn write_at(&self, data: &[u8], offset: u64) -> Result<(), Fault> {
        let Some(edges) = &self.edges else {
            return self.write_to(&self.file, data, offset);
        };
        let (head, body) = inner_pages(data.len(), offset);
        self.write_to(edges, &data[..head], offset)?;
        self.write_to(&self.file, &data[head..body], offset + head as u64)?;
        self.write_to(edges, &data[body..], offset + body as u64)
    }

    fn write_to(&self, to: impl AsFd, data: &[u8], offset: u64) -> Result<(), Fault> {
        write_all(data, offset, |data, at| pwrite(&to, data, at))
            .map_err(Fault::io_at(&self.path, "pwrite"))
    }

    /// Sync if requested, and close.
    pub(crate) fn finish(self, sync: bool) -> Result<(), Fault> {
        if sync {
            retry_on_intr(|| fsync(&self.file)).map_err(Fault::io(&self.path, "fsync"))?;
        }
        for file in [Some(self.file), self.edges].into_iter().flatten() {
            close(file).map_err(Fault::io(&self.path, "close"))?;
        }
        Ok(())
    }
}

fn open_file(path: &Path, flags: OFlags) -> Result<OwnedFd, Fault> {
    let opened = if flags.intersects(OFlags::RDWR) {
        open_own(path, flags)
    } else {
        open_data(path, flags)
    };
    opened.map_err(Fault::io(path, "open"))
}

/// Range of whole pages within data at `offset`.
fn inner_pages(len: usize, offset: u64) -> (usize, usize) {
    let lead = in_page(offset);
    let head = (lead.next_multiple_of(PAGE_BYTES) - lead).min(len);
    let body = (lead + len) / PAGE_BYTES * PAGE_BYTES;
    (head, body.saturating_sub(lead).max(head))
}

/// Offset within the page.
pub(crate) fn in_page(offset: u64) -> usize {
    usize::try_from(offset % PAGE_BYTES as u64).expect("less than a page")
}

/// Maximum buffer of one call: larger buffers save no time and exceed the CPU cache.
pub const MAX_CALL_BYTES: usize = 1 << 20;

/// Minimum buffer: below it, seeks and call overhead dominate.
pub(crate) const MIN_CALL_BYTES: usize = 64 << 10;

/// Allocate a page-aligned buffer.
pub(crate) fn buffer(bytes: usize) -> Result<AlignedBuffer, Fault> {
    AlignedBuffer::new(bytes).map_err(|error| out_of_memory(bytes, &error))
}

/// Reserve memory for a vector of `values` elements.
pub(crate) fn reserve<T>(values: usize) -> Result<Vec<T>, Fault> {
    let mut room = Vec::new();
    let bytes = values * size_of::<T>();
    let no_room = |_| out_of_memory(bytes, &io::Error::from(Errno::NOMEM));
    room.try_reserve_exact(values).map_err(no_room)?;
    Ok(room)
}

/// Round down to whole pages.
pub(crate) fn whole_pages(bytes: usize) -> usize {
    bytes / PAGE_BYTES * PAGE_BYTES
}

fn out_of_memory(bytes: usize, error: &io::Error) -> Fault {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::NOMEM);
    Fault::Memory { bytes, errno }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_pages_are_found_within_data() {
        let page = PAGE_BYTES;
        let at = |offset: usize, len| inner_pages(len, offset as u64);
        assert_eq!(at(0, 2 * page), (0, 2 * page));
        assert_eq!(at(100, 2 * page), (page - 100, 2 * page - 100));
        assert_eq!(at(100, 10), (10, 10));
        assert_eq!(at(page, 10), (0, 0));
        assert_eq!(at(page - 1, 2), (1, 1));
        assert_eq!(at(page - 1, 1 + page), (1, 1 + page));
    }
}
