//! Files of a simulated disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use iostudy_pattern::nth;
use iostudy_simulator::{File, PAGE_BYTES};

const PAGE_BLOCKS: u64 = PAGE_BYTES / 512;
/// Threads start within this time, as those of a real job do.
const START_NANOS: u64 = 1_000_000;

/// Files in the order of their creation, each after the one before.
pub struct FileTable {
    next: u64,
    blocks: u64,
    files: Vec<File>,
    by_path: HashMap<PathBuf, usize>,
}

impl FileTable {
    pub fn new(first_block: u64, blocks: u64) -> Self {
        Self {
            next: first_block.next_multiple_of(PAGE_BLOCKS),
            blocks,
            files: Vec::new(),
            by_path: HashMap::new(),
        }
    }

    pub fn all(&self) -> &[File] {
        &self.files
    }

    pub fn size(&self, path: &Path) -> Option<u64> {
        let index = self.by_path.get(path)?;
        Some(self.files[*index].pages * PAGE_BYTES)
    }

    /// Index of a file; an error names one that is missing or shorter than `bytes`.
    pub fn find(&self, path: &Path, bytes: u64) -> Result<usize, String> {
        let index = self.by_path.get(path).copied();
        let long_enough = |&index: &usize| self.files[index].pages >= bytes.div_ceil(PAGE_BYTES);
        index.filter(long_enough).ok_or_else(|| {
            format!(
                "{} has no {bytes} bytes on the simulated disk",
                path.display()
            )
        })
    }

    /// Index of a file of that size: the one of that name and size, or a new one.
    pub fn create(&mut self, path: &Path, bytes: u64) -> Result<usize, String> {
        let pages = bytes.div_ceil(PAGE_BYTES);
        if let Some(&index) = self.by_path.get(path)
            && self.files[index].pages >= pages
        {
            return Ok(index);
        }
        self.place(path, self.next, bytes)?;
        self.next += pages * PAGE_BLOCKS;
        Ok(self.files.len() - 1)
    }

    /// Make a file of that size at block `start`; it replaces one of the same name.
    pub fn place(&mut self, path: &Path, start: u64, bytes: u64) -> Result<(), String> {
        let pages = bytes.div_ceil(PAGE_BYTES);
        if start + pages * PAGE_BLOCKS > self.blocks {
            return Err(format!(
                "the simulated disk has no room for {bytes} bytes of {}",
                path.display()
            ));
        }
        self.files.push(File { start, pages });
        self.by_path.insert(path.to_owned(), self.files.len() - 1);
        Ok(())
    }
}

/// Start of a thread.
pub fn start(seed: u64, thread: usize) -> u64 {
    nth(seed, thread as u64) % START_NANOS
}
