//! Data of a drive in sparse anonymous memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::{MemfdFlags, memfd_create};

const SECTOR_BYTES: u64 = 512;

/// Sparse memory: blocks that were never written read as zeros and take no memory.
#[derive(Debug)]
pub struct Store {
    memory: File,
    limit: u64,
}

impl Store {
    /// An empty store of `size` bytes that allocates at most `limit` bytes.
    pub fn new(size: u64, limit: u64) -> io::Result<Self> {
        let memory = File::from(memfd_create("iostudy-drive", MemfdFlags::CLOEXEC)?);
        memory.set_len(size)?;
        Ok(Self { memory, limit })
    }

    /// Allocated bytes.
    pub fn allocated(&self) -> io::Result<u64> {
        Ok(self.memory.metadata()?.blocks() * SECTOR_BYTES)
    }

    /// The bytes from `offset`.
    pub fn read(&self, offset: u64, size: usize) -> io::Result<Vec<u8>> {
        let mut data = vec![0; size];
        self.memory.read_exact_at(&mut data, offset)?;
        Ok(data)
    }

    /// Write `data` at `offset`; `StorageFull` where that could exceed the limit.
    pub fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if self.allocated()? + data.len() as u64 > self.limit {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.memory.write_all_at(data, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_zeros_and_take_no_memory() {
        let store = Store::new(1 << 40, 1 << 20).unwrap();
        store.write(1 << 39, b"data").unwrap();
        assert_eq!(store.read(1 << 39, 5).unwrap(), b"data\0");
        assert_eq!(store.read(0, 512).unwrap(), [0; 512]);
        assert!(store.allocated().unwrap() <= 1 << 16);
    }

    #[test]
    fn memory_has_a_limit() {
        let store = Store::new(1 << 40, 1 << 20).unwrap();
        let refused = store.write(0, &vec![1; 2 << 20]).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
        assert_eq!(store.allocated().unwrap(), 0);
    }
}
