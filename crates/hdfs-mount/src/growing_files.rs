//! Lengths of files that are being written, which the `NameNode` learns only at their end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The length of a file that one writer writes.
#[derive(Clone, Debug)]
pub struct GrowingLength(Arc<AtomicU64>);

impl GrowingLength {
    /// The present length.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Add what was written.
    pub fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::AcqRel);
    }
}

/// The length of each file with an open writer, by its inode number. The last writer counts.
#[derive(Debug, Default)]
pub struct GrowingFiles {
    lengths: Mutex<HashMap<u64, GrowingLength>>,
}

impl GrowingFiles {
    /// The present length of a file; none if it has no writer.
    pub fn length(&self, inode: u64) -> Option<u64> {
        self.lock().get(&inode).map(GrowingLength::get)
    }

    /// Note a writer of a file of this length.
    pub fn begin(&self, inode: u64, length: u64) -> GrowingLength {
        let growing = GrowingLength(Arc::new(AtomicU64::new(length)));
        self.lock().insert(inode, growing.clone());
        growing
    }

    /// Forget a writer, unless the file has another one by now.
    pub fn end(&self, inode: u64, writer: &GrowingLength) {
        let mut lengths = self.lock();
        if let Some(found) = lengths.get(&inode)
            && Arc::ptr_eq(&found.0, &writer.0)
        {
            lengths.remove(&inode);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, GrowingLength>> {
        self.lengths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_that_of_the_last_writer_until_it_ends() {
        let files = GrowingFiles::default();
        let former = files.begin(7, 5);
        former.add(2);
        assert_eq!(files.length(7), Some(7));
        let latter = files.begin(7, 0);
        files.end(7, &former);
        assert_eq!(files.length(7), Some(0));
        files.end(7, &latter);
        assert_eq!(files.length(7), None);
    }
}
