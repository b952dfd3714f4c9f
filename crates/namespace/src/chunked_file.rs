//! Buffered reading of log files, which may exceed the memory.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use iostudy_files::{open, read_all};
use rustix::fs::{OFlags, fstat};
use rustix::io::pread;

use crate::error::Fault;
use crate::record::MAX_RECORD_BYTES;

/// Larger than most batches, so that the cost of a call is negligible.
const CHUNK_BYTES: usize = 1 << 20;
/// Smallest atomic write of a disk; larger sectors are multiples.
const SECTOR_BYTES: u64 = 512;

pub(crate) struct ChunkedFile {
    path: PathBuf,
    file: OwnedFd,
    bytes: u64,
    /// Contents of the file from `at`.
    buffer: Vec<u8>,
    at: u64,
}

impl ChunkedFile {
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        let file = open(path, OFlags::RDONLY).map_err(Fault::in_call(path, "open"))?;
        let bytes = fstat(&file).map_err(Fault::in_call(path, "fstat"))?.st_size;
        Ok(Self {
            path: path.to_owned(),
            file,
            bytes: u64::try_from(bytes).unwrap_or(0),
            buffer: Vec::new(),
            at: 0,
        })
    }

    /// Return `len` bytes from `from`, or fewer at the end of the file.
    pub(crate) fn get(&mut self, from: u64, len: usize) -> Result<&[u8], Fault> {
        let left = self.bytes.saturating_sub(from);
        let len = usize::try_from(left).map_or(len, |left| left.min(len));
        if len == 0 {
            return Ok(&[]);
        }
        let is_buffered =
            from >= self.at && from + len as u64 <= self.at + self.buffer.len() as u64;
        if !is_buffered {
            let most = usize::try_from(left).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES));
            self.fill(from, len.max(most))?;
        }
        let buffer =
            &self.buffer[usize::try_from(from - self.at).expect("the range is buffered")..];
        Ok(&buffer[..len.min(buffer.len())])
    }

    fn fill(&mut self, from: u64, len: usize) -> Result<(), Fault> {
        self.buffer.resize(len, 0);
        self.at = from;
        let read = read_all(&mut self.buffer, from, |rest, at| {
            pread(&self.file, rest, at)
        });
        let read = read.map_err(|refused| Fault::in_call(&self.path, "read")(refused.errno));
        self.buffer.truncate(*read.as_ref().unwrap_or(&0));
        read.map(|_| ())
    }

    /// Whether the rest of the file is zeros.
    pub(crate) fn is_zero_from(&mut self, mut from: u64) -> Result<bool, Fault> {
        loop {
            let chunk = self.get(from, CHUNK_BYTES)?;
            if chunk.iter().any(|&byte| byte != 0) {
                return Ok(false);
            }
            if chunk.len() < CHUNK_BYTES {
                return Ok(true);
            }
            from += CHUNK_BYTES as u64;
        }
    }

    /// Return the first match of `found` and the offset of its chunk. Chunks overlap, so that every
    /// record lies in one chunk.
    pub(crate) fn find<T>(
        &mut self,
        mut from: u64,
        found: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<(u64, T)>, Fault> {
        loop {
            let chunk = self.get(from, CHUNK_BYTES)?;
            if let Some(found) = found(chunk) {
                return Ok(Some((from, found)));
            }
            if chunk.len() < CHUNK_BYTES {
                return Ok(None);
            }
            from += (CHUNK_BYTES - MAX_RECORD_BYTES) as u64;
        }
    }

    /// Whether a sector in `from..to` was not written by a torn write that began at `begin`: it is
    /// zeros or beyond the end of the file.
    pub(crate) fn has_missing_sector(
        &mut self,
        begin: u64,
        from: u64,
        to: u64,
    ) -> Result<bool, Fault> {
        for sector in from / SECTOR_BYTES..to.div_ceil(SECTOR_BYTES) {
            let written = begin.max(sector * SECTOR_BYTES);
            let end = (sector + 1) * SECTOR_BYTES;
            let len = usize::try_from(end - written).expect("part of a sector");
            let found = self.get(written, len)?;
            let is_cut = written + (found.len() as u64) < to.min(end);
            if is_cut || found.iter().all(|&byte| byte == 0) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn file(bytes: &[u8]) -> (tempfile::TempDir, ChunkedFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, bytes).unwrap();
        let file = ChunkedFile::open(&path).unwrap();
        (folder, file)
    }

    #[test]
    fn reads_end_at_the_end_of_the_file() {
        let (_folder, mut file) = file(&[1, 2, 3]);
        assert_eq!(file.get(1, 2).unwrap(), [2, 3]);
        assert_eq!(file.get(1, 9).unwrap(), [2, 3]);
        assert!(file.get(3, 9).unwrap().is_empty());
        assert!(file.get(7, 9).unwrap().is_empty());
        assert_eq!(file.get(0, 1).unwrap(), [1]);
    }

    #[test]
    fn a_match_across_chunks_is_found() {
        let mut bytes = vec![0; 3 * CHUNK_BYTES];
        let (_folder, mut zeros) = file(&bytes);
        assert!(zeros.is_zero_from(5).unwrap());
        let at = 2 * CHUNK_BYTES - MAX_RECORD_BYTES + 100;
        bytes[at..at + MAX_RECORD_BYTES].fill(9);
        let (_folder, mut file) = file(&bytes);
        assert!(!file.is_zero_from(5).unwrap());
        let run = |chunk: &[u8], byte| {
            let all = vec![byte; MAX_RECORD_BYTES];
            chunk.windows(MAX_RECORD_BYTES).position(|own| own == all)
        };
        let (begin, in_piece) = file.find(5, |chunk| run(chunk, 9)).unwrap().unwrap();
        assert_eq!(begin + in_piece as u64, at as u64);
        assert_eq!(file.find(5, |chunk| run(chunk, 8)).unwrap(), None);
    }

    #[test]
    fn a_sector_is_missing_if_zero_or_beyond_the_end() {
        let mut bytes = vec![7; 1500];
        let (_folder, mut whole) = file(&bytes);
        assert!(!whole.has_missing_sector(100, 100, 1500).unwrap());
        assert!(whole.has_missing_sector(100, 100, 1501).unwrap());
        bytes[600..1024].fill(0);
        let (_folder, mut some) = file(&bytes);
        assert!(!some.has_missing_sector(100, 100, 1500).unwrap());
        assert!(some.has_missing_sector(600, 600, 1500).unwrap());
        bytes[512..1024].fill(0);
        let (_folder, mut one) = file(&bytes);
        assert!(one.has_missing_sector(100, 100, 1500).unwrap());
        assert!(!one.has_missing_sector(100, 100, 512).unwrap());
        assert!(!one.has_missing_sector(1024, 1024, 1500).unwrap());
    }
}
