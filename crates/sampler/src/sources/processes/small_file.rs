//! Files of /proc that are opened, read and closed again, one after the other.

use std::fmt::{Arguments, Write};
use std::fs::File;
use std::io::Read;

/// More than the files of a process that are read here ever hold.
const ROOM: usize = 4096;

/// The room that is used for one after the other.
#[derive(Debug)]
pub(super) struct SmallFile {
    path: String,
    text: Vec<u8>,
}

impl SmallFile {
    pub(super) fn new() -> Self {
        Self {
            path: String::new(),
            text: vec![0; ROOM],
        }
    }

    /// What the file holds; None if its process is gone, or another user's. The kernel makes such a
    /// file up as it is read, and hands out in one piece what fits.
    pub(super) fn read(&mut self, path: Arguments<'_>) -> Option<&[u8]> {
        self.path.clear();
        self.path.write_fmt(path).ok()?;
        let len = File::open(&self.path).ok()?.read(&mut self.text).ok()?;
        Some(&self.text[..len])
    }
}
