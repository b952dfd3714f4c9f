//! Inode of an open file, which keeps its number when the path changes.

use std::sync::{Arc, Mutex, PoisonError};

use crate::growing_files::{GrowingFiles, GrowingLength};
use crate::inodes::Inodes;

/// The inode of an open file, with the paths and lengths of all inodes of the mount.
#[derive(Clone)]
pub struct FileInode {
    number: u64,
    inodes: Arc<Mutex<Inodes>>,
    growing: Arc<GrowingFiles>,
    writable: bool,
}

impl FileInode {
    /// The inode of this number; `writable` if this mount can change the file.
    pub fn new(
        number: u64,
        inodes: Arc<Mutex<Inodes>>,
        growing: Arc<GrowingFiles>,
        writable: bool,
    ) -> Self {
        Self {
            number,
            inodes,
            growing,
            writable,
        }
    }

    /// Whether this mount can change the file.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// The present path; none if the file was removed or replaced.
    pub fn path(&self) -> Option<Arc<str>> {
        let inodes = self.inodes.lock().unwrap_or_else(PoisonError::into_inner);
        inodes.path(self.number)
    }

    /// The present length, if the file has a writer.
    pub fn growing_length(&self) -> Option<u64> {
        self.growing.length(self.number)
    }

    /// Note a writer of the file.
    pub fn begin_growth(&self, length: u64) -> GrowingLength {
        self.growing.begin(self.number, length)
    }

    /// Forget a writer of the file.
    pub fn end_growth(&self, writer: &GrowingLength) {
        self.growing.end(self.number, writer);
    }
}
