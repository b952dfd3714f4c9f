//! Place of an open file: it keeps its inode, whatever path that has by now.

use std::sync::{Arc, Mutex, PoisonError};

use crate::growing_files::{GrowingFiles, GrowingLength};
use crate::inodes::Inodes;

/// The inode of an open file, with what the mount knows of all inodes.
#[derive(Clone)]
pub struct Location {
    inode: u64,
    inodes: Arc<Mutex<Inodes>>,
    growing: Arc<GrowingFiles>,
    writable: bool,
}

impl Location {
    /// The location of an inode; `writable` if this mount can change the file.
    pub fn new(
        inode: u64,
        inodes: Arc<Mutex<Inodes>>,
        growing: Arc<GrowingFiles>,
        writable: bool,
    ) -> Self {
        Self {
            inode,
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
        inodes.path(self.inode)
    }

    /// The present length, if the file has a writer.
    pub fn growing_length(&self) -> Option<u64> {
        self.growing.length(self.inode)
    }

    /// Note a writer of the file.
    pub fn begin_growth(&self, length: u64) -> GrowingLength {
        self.growing.begin(self.inode, length)
    }

    /// Forget a writer of the file.
    pub fn end_growth(&self, writer: &GrowingLength) {
        self.growing.end(self.inode, writer);
    }
}
