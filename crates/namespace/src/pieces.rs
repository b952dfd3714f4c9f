//! A file that is read in pieces: a log may be larger than memory.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use iostudy_files::{open, read_all};
use rustix::fs::{OFlags, fstat};
use rustix::io::pread;

use crate::error::Fault;
use crate::record::LONGEST;

/// Larger than most batches; the time of a call is nothing beside that of reading so much.
const PIECE: usize = 1 << 20;
/// The least that a disk writes or leaves as it was. Larger ones are whole numbers of these.
const SECTOR: u64 = 512;

pub(crate) struct Pieces {
    path: PathBuf,
    file: OwnedFd,
    bytes: u64,
    /// What the file has from `at` on.
    held: Vec<u8>,
    at: u64,
}

impl Pieces {
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        let file = open(path, OFlags::RDONLY).map_err(Fault::of(path, "open"))?;
        let bytes = fstat(&file).map_err(Fault::of(path, "fstat"))?.st_size;
        Ok(Self {
            path: path.to_owned(),
            file,
            bytes: u64::try_from(bytes).unwrap_or(0),
            held: Vec::new(),
            at: 0,
        })
    }

    /// So many bytes from there on; fewer at the end of the file.
    pub(crate) fn get(&mut self, from: u64, len: usize) -> Result<&[u8], Fault> {
        let left = self.bytes.saturating_sub(from);
        let len = usize::try_from(left).map_or(len, |left| left.min(len));
        if len == 0 {
            return Ok(&[]);
        }
        let is_held = from >= self.at && from + len as u64 <= self.at + self.held.len() as u64;
        if !is_held {
            let most = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
            self.fill(from, len.max(most))?;
        }
        let held = &self.held[usize::try_from(from - self.at).expect("it is held")..];
        Ok(&held[..len.min(held.len())])
    }

    fn fill(&mut self, from: u64, len: usize) -> Result<(), Fault> {
        self.held.resize(len, 0);
        self.at = from;
        let read = read_all(&mut self.held, from, |rest, at| pread(&self.file, rest, at));
        let read = read.map_err(|refused| Fault::of(&self.path, "read")(refused.errno));
        self.held.truncate(*read.as_ref().unwrap_or(&0));
        read.map(|_| ())
    }

    /// Whether there is nothing but zeros from there on.
    pub(crate) fn is_zero_from(&mut self, mut from: u64) -> Result<bool, Fault> {
        loop {
            let piece = self.get(from, PIECE)?;
            if piece.iter().any(|&byte| byte != 0) {
                return Ok(false);
            }
            if piece.len() < PIECE {
                return Ok(true);
            }
            from += PIECE as u64;
        }
    }

    /// What `found` makes of the first piece in which it finds something, from there on, with where
    /// that piece begins. Pieces overlap, so that any record lies whole in one.
    pub(crate) fn find<T>(
        &mut self,
        mut from: u64,
        found: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<(u64, T)>, Fault> {
        loop {
            let piece = self.get(from, PIECE)?;
            if let Some(found) = found(piece) {
                return Ok(Some((from, found)));
            }
            if piece.len() < PIECE {
                return Ok(None);
            }
            from += (PIECE - LONGEST) as u64;
        }
    }

    /// Whether a sector that holds part of `from..to` was not written, when a write that began at
    /// `begin` was cut off: it is as it was before, zeros or beyond the end of the file.
    pub(crate) fn lacks_a_sector(&mut self, begin: u64, from: u64, to: u64) -> Result<bool, Fault> {
        for sector in from / SECTOR..to.div_ceil(SECTOR) {
            let written = begin.max(sector * SECTOR);
            let end = (sector + 1) * SECTOR;
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

    fn pieces(bytes: &[u8]) -> (tempfile::TempDir, Pieces) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, bytes).unwrap();
        let pieces = Pieces::open(&path).unwrap();
        (folder, pieces)
    }

    #[test]
    fn a_file_ends_where_it_ends() {
        let (_folder, mut pieces) = pieces(&[1, 2, 3]);
        assert_eq!(pieces.get(1, 2).unwrap(), [2, 3]);
        assert_eq!(pieces.get(1, 9).unwrap(), [2, 3]);
        assert!(pieces.get(3, 9).unwrap().is_empty());
        assert!(pieces.get(7, 9).unwrap().is_empty());
        assert_eq!(pieces.get(0, 1).unwrap(), [1]);
    }

    #[test]
    fn what_lies_across_pieces_is_found() {
        let mut bytes = vec![0; 3 * PIECE];
        let (_folder, mut zeros) = pieces(&bytes);
        assert!(zeros.is_zero_from(5).unwrap());
        let at = 2 * PIECE - LONGEST + 100;
        bytes[at..at + LONGEST].fill(9);
        let (_folder, mut pieces) = pieces(&bytes);
        assert!(!pieces.is_zero_from(5).unwrap());
        let run = |piece: &[u8], byte| {
            let all = vec![byte; LONGEST];
            piece.windows(LONGEST).position(|own| own == all)
        };
        let (begin, in_piece) = pieces.find(5, |piece| run(piece, 9)).unwrap().unwrap();
        assert_eq!(begin + in_piece as u64, at as u64);
        assert_eq!(pieces.find(5, |piece| run(piece, 8)).unwrap(), None);
    }

    #[test]
    fn a_sector_is_lacking_where_it_is_zeros_or_beyond_the_end() {
        let mut bytes = vec![7; 1500];
        let (_folder, mut whole) = pieces(&bytes);
        assert!(!whole.lacks_a_sector(100, 100, 1500).unwrap());
        assert!(whole.lacks_a_sector(100, 100, 1501).unwrap());
        bytes[600..1024].fill(0);
        let (_folder, mut some) = pieces(&bytes);
        assert!(!some.lacks_a_sector(100, 100, 1500).unwrap());
        assert!(some.lacks_a_sector(600, 600, 1500).unwrap());
        bytes[512..1024].fill(0);
        let (_folder, mut one) = pieces(&bytes);
        assert!(one.lacks_a_sector(100, 100, 1500).unwrap());
        assert!(!one.lacks_a_sector(100, 100, 512).unwrap());
        assert!(!one.lacks_a_sector(1024, 1024, 1500).unwrap());
    }
}
