//! Data of a drive in sparse anonymous memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use iostudy_drive::BLOCK_BYTES;
use rustix::fs::{MemfdFlags, memfd_create};

/// Unit of allocated space (stat(2)).
const ALLOCATION_BYTES: u64 = 512;

/// Sparse memory: blocks that were never written read as zeros and take no memory.
#[derive(Debug)]
pub struct Store {
    memory: File,
    size: u64,
    limit: u64,
}

impl Store {
    /// An empty store of `size` bytes that allocates at most `limit` bytes.
    pub fn new(size: u64, limit: u64) -> io::Result<Self> {
        let memory = File::from(memfd_create("iostudy-drive", MemfdFlags::CLOEXEC)?);
        memory.set_len(size)?;
        Ok(Self {
            memory,
            size,
            limit,
        })
    }

    /// Bytes that the store holds.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Most bytes that it allocates.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Blocks of a transfer; None if it does not consist of whole blocks of the store.
    pub fn blocks(&self, offset: u64, size: usize) -> Option<(u64, u32)> {
        let end = offset.checked_add(size as u64)?;
        let whole = offset % BLOCK_BYTES == 0 && end % BLOCK_BYTES == 0;
        let count = u32::try_from(size as u64 / BLOCK_BYTES).ok()?;
        (whole && count > 0 && end <= self.size).then_some((offset / BLOCK_BYTES, count))
    }

    /// Allocated bytes.
    pub fn allocated(&self) -> io::Result<u64> {
        Ok(self.memory.metadata()?.blocks() * ALLOCATION_BYTES)
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
    fn transfers_are_whole_blocks_of_the_store() {
        let store = Store::new(1 << 20, 1 << 20).unwrap();
        assert_eq!(store.blocks(512, 1024), Some((1, 2)));
        assert_eq!(store.blocks((1 << 20) - 512, 512), Some((2047, 1)));
        for (offset, size) in [
            (0, 0),
            (0, 100),
            (100, 512),
            (1 << 20, 512),
            (u64::MAX, 512),
        ] {
            assert_eq!(store.blocks(offset, size), None);
        }
    }

    #[test]
    fn memory_has_a_limit() {
        let store = Store::new(1 << 40, 1 << 20).unwrap();
        let refused = store.write(0, &vec![1; 2 << 20]).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
        assert_eq!(store.allocated().unwrap(), 0);
    }
}
