//! Memory for records: at page boundaries, and in one piece where it can be.

use std::io;
use std::ops::{Deref, DerefMut};

use memmap2::{Advice, MmapMut};

/// The alignment that every Linux file system and device accepts for `O_DIRECT`.
pub const PAGE_BYTES: usize = 4096;

const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Bytes that begin at a page boundary, all of them in memory already.
///
/// Large ones lie in huge pages if the kernel has them. Else it is up to the page allocator's luck
/// how many pieces a record has, and with them into how many requests `O_DIRECT` splits it: a
/// difference between runs that has nothing to do with the storage.
pub struct AlignedBuffer {
    memory: MmapMut,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    /// `len` bytes of no particular content.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn new(len: usize) -> io::Result<Self> {
        let huge = len >= HUGE_PAGE_BYTES / 2;
        let boundary = if huge { HUGE_PAGE_BYTES } else { PAGE_BYTES };
        let mut memory = MmapMut::map_anon(len.next_multiple_of(boundary) + boundary)?;
        if huge {
            let _ = memory.advise(Advice::HugePage); // a wish: not every kernel has them
        }
        let start = memory.as_ptr().align_offset(boundary);
        memory[start..start + len].fill(u8::MAX); // so that no page is missing when it counts
        Ok(Self { memory, start, len })
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_at_a_page_boundary_and_has_the_wanted_length() {
        for len in [0, 1, PAGE_BYTES, 3 * PAGE_BYTES + 17, HUGE_PAGE_BYTES + 1] {
            let buffer = AlignedBuffer::new(len).unwrap();
            assert_eq!(buffer.as_ptr().addr() % PAGE_BYTES, 0);
            assert_eq!(buffer.len(), len);
        }
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        assert!(AlignedBuffer::new(1 << 60).is_err());
    }
}
