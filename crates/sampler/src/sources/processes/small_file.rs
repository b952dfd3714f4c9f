//! Reader of small /proc files with one buffer, and lists of processes.

use std::fmt::{Arguments, Write};
use std::fs::File;
use std::io::Read;

/// Upper limit of a process file's size.
const MAX_FILE_BYTES: usize = 4096;

/// Reused buffers.
#[derive(Debug)]
pub(super) struct SmallFile {
    path: String,
    text: Vec<u8>,
}

impl SmallFile {
    pub(super) fn new() -> Self {
        Self {
            path: String::new(),
            text: vec![0; MAX_FILE_BYTES],
        }
    }

    /// Read a file; `None` if its process is gone or access is denied. The kernel returns such a
    /// file in one piece.
    pub(super) fn read(&mut self, path: Arguments<'_>) -> Option<&[u8]> {
        self.path.clear();
        self.path.write_fmt(path).ok()?;
        let len = File::open(&self.path).ok()?.read(&mut self.text).ok()?;
        Some(&self.text[..len])
    }
}

/// The numbers in the folder; none if it is gone.
pub(super) fn list_pids(folder: &str) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
