//! Files of a simulated disk, in folders.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use iostudy_pattern::nth;
use iostudy_records::wordcount::TextJob;
use iostudy_simulator::{File, PAGE_BYTES};

const PAGE_BLOCKS: u64 = PAGE_BYTES / 512;
/// Threads start within this time, as those of a real job do.
const START_NANOS: u64 = 1_000_000;

/// Files in the order of their creation, each after the one before.
pub struct FileTable {
    next: u64,
    blocks: u64,
    files: Vec<File>,
    /// Sizes of the files in bytes.
    bytes: Vec<u64>,
    by_path: BTreeMap<PathBuf, usize>,
    /// Texts by their folder.
    texts: HashMap<PathBuf, TextJob>,
}

impl FileTable {
    /// An empty disk of that many blocks. Its files begin at a block.
    pub fn new(first_block: u64, blocks: u64) -> Self {
        Self {
            next: first_block.next_multiple_of(PAGE_BLOCKS),
            blocks,
            files: Vec::new(),
            bytes: Vec::new(),
            by_path: BTreeMap::new(),
            texts: HashMap::new(),
        }
    }

    /// All files by their index.
    pub fn all(&self) -> &[File] {
        &self.files
    }

    /// Size of a file in bytes; none if it is missing.
    pub fn size(&self, path: &Path) -> Option<u64> {
        Some(self.bytes(*self.by_path.get(path)?))
    }

    /// Size of a file in bytes by its index.
    pub fn bytes(&self, index: usize) -> u64 {
        self.bytes[index]
    }

    /// Index of a file.
    ///
    /// # Errors
    ///
    /// It is missing or shorter than `bytes`.
    pub fn find(&self, path: &Path, bytes: u64) -> Result<usize, String> {
        let index = self.by_path.get(path).copied();
        let long_enough = |&index: &usize| self.bytes[index] >= bytes;
        index.filter(long_enough).ok_or_else(|| {
            format!(
                "{} has no {bytes} bytes on the simulated disk",
                path.display()
            )
        })
    }

    /// Indices of the files in a folder, in the order of their names.
    ///
    /// # Errors
    ///
    /// The folder has none.
    pub fn parts(&self, folder: &Path) -> Result<Vec<usize>, String> {
        let in_folder = self.by_path.range(folder.to_owned()..);
        let parts: Vec<usize> = in_folder
            .take_while(|(path, _)| path.starts_with(folder))
            .map(|(_, index)| *index)
            .collect();
        if parts.is_empty() {
            return Err(format!(
                "{} has no files on the simulated disk",
                folder.display()
            ));
        }
        Ok(parts)
    }

    /// Note the text of a folder.
    pub fn set_text(&mut self, text: &TextJob) {
        self.texts.insert(text.folder.clone(), text.clone());
    }

    /// The text that a file is a part of.
    pub fn text(&self, path: &Path) -> Option<&TextJob> {
        self.texts.get(path.parent()?)
    }

    /// Index of a file of that size: the one of that name and size, or a new one.
    ///
    /// # Errors
    ///
    /// The disk has no room.
    pub fn create(&mut self, path: &Path, bytes: u64) -> Result<usize, String> {
        let pages = bytes.div_ceil(PAGE_BYTES);
        if let Some(&index) = self.by_path.get(path)
            && self.files[index].pages >= pages
        {
            self.bytes[index] = bytes;
            return Ok(index);
        }
        self.place(path, self.next, bytes)?;
        self.next += pages * PAGE_BLOCKS;
        Ok(self.files.len() - 1)
    }

    /// Index of a file that begins after one `part`-th of the disk, outside of the order of the
    /// others: the one of that name, or a new one.
    ///
    /// # Errors
    ///
    /// The disk has no room.
    pub fn create_at(&mut self, path: &Path, part: u64, bytes: u64) -> Result<usize, String> {
        if !self.by_path.contains_key(path) {
            let start = self.blocks / part / PAGE_BLOCKS * PAGE_BLOCKS;
            self.place(path, start, bytes)?;
        }
        self.find(path, bytes)
    }

    /// Let changes of a file go through a journal.
    pub fn set_journal(&mut self, file: usize, journal: usize) {
        self.files[file].journal = Some(journal);
    }

    /// Make a file of that size at block `start`; it replaces one of the same name.
    ///
    /// # Errors
    ///
    /// The disk ends before the file.
    pub fn place(&mut self, path: &Path, start: u64, bytes: u64) -> Result<(), String> {
        let pages = bytes.div_ceil(PAGE_BYTES);
        if start + pages * PAGE_BLOCKS > self.blocks {
            return Err(format!(
                "the simulated disk has no room for {bytes} bytes of {}",
                path.display()
            ));
        }
        self.files.push(File {
            start,
            pages,
            journal: None,
        });
        self.bytes.push(bytes);
        self.by_path.insert(path.to_owned(), self.files.len() - 1);
        Ok(())
    }
}

/// Start of a thread.
pub fn start(seed: u64, thread: usize) -> u64 {
    nth(seed, thread as u64) % START_NANOS
}
