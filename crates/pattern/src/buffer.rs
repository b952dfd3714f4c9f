//! Memory at page boundaries, as `O_DIRECT` asks for.

use std::ops::{Deref, DerefMut};

/// The alignment that every Linux file system and device accepts for `O_DIRECT`.
pub const PAGE_BYTES: usize = 4096;

/// Bytes that begin at a page boundary.
pub struct AlignedBuffer {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    /// `len` zero bytes.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        // One page more than needed, so that a boundary lies within the first page.
        let memory = vec![0; len + PAGE_BYTES];
        let start = memory.as_ptr().align_offset(PAGE_BYTES);
        Self { memory, start, len }
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
        for len in [0, 1, PAGE_BYTES, 3 * PAGE_BYTES + 17] {
            let buffer = AlignedBuffer::zeroed(len);
            assert_eq!(buffer.as_ptr().addr() % PAGE_BYTES, 0);
            assert_eq!(buffer.len(), len);
        }
    }
}
