//! Page-aligned buffers for direct I/O, in huge pages where possible.

use std::io;
use std::ops::{Deref, DerefMut};

use memmap2::{Advice, MmapMut};

/// The alignment that every Linux file system and device accepts for `O_DIRECT`.
pub const PAGE_BYTES: usize = 4096;

const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Page-aligned buffer whose pages are all resident.
///
/// Large buffers use huge pages where the kernel has them. Otherwise physical fragmentation would
/// decide how many requests `O_DIRECT` makes of one record, and that varies between runs.
pub struct AlignedBuffer {
    memory: MmapMut,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    /// Allocate `len` bytes with unspecified content.
    ///
    /// # Errors
    ///
    /// The system has not enough memory.
    pub fn new(len: usize) -> io::Result<Self> {
        let huge = len >= HUGE_PAGE_BYTES / 2;
        let boundary = if huge { HUGE_PAGE_BYTES } else { PAGE_BYTES };
        let mut memory = MmapMut::map_anon(len.next_multiple_of(boundary) + boundary)?;
        if huge {
            let _ = memory.advise(Advice::HugePage); // a hint: not every kernel has huge pages
        }
        let start = memory.as_ptr().align_offset(boundary);
        memory[start..start + len].fill(u8::MAX); // faults in every page before the measurement
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
    fn a_buffer_is_page_aligned_and_has_the_requested_length() {
        for len in [0, 1, PAGE_BYTES, 3 * PAGE_BYTES + 17, HUGE_PAGE_BYTES + 1] {
            let buffer = AlignedBuffer::new(len).unwrap();
            assert_eq!(buffer.as_ptr().addr() % PAGE_BYTES, 0);
            assert_eq!(buffer.len(), len);
        }
    }

    #[test]
    fn a_request_beyond_the_memory_is_an_error() {
        assert!(AlignedBuffer::new(1 << 60).is_err());
    }
}
