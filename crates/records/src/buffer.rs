//! Buffers for I/O calls.

use std::io;

use iostudy_pattern::{AlignedBuffer, PAGE_BYTES};
use rustix::io::Errno;

use crate::error::Fault;

/// Maximum buffer of one call: larger buffers save no time and exceed the CPU cache.
pub const MAX_CALL_BYTES: usize = 1 << 20;

/// Minimum buffer: below it, seeks and call overhead dominate.
pub(crate) const MIN_CALL_BYTES: usize = 64 << 10;

/// Allocate a page-aligned buffer.
pub(crate) fn buffer(bytes: usize) -> Result<AlignedBuffer, Fault> {
    AlignedBuffer::new(bytes).map_err(|error| out_of_memory(bytes, &error))
}

/// Reserve memory for a vector of `values` elements.
pub(crate) fn reserve<T>(values: usize) -> Result<Vec<T>, Fault> {
    let mut room = Vec::new();
    let bytes = values * size_of::<T>();
    let no_room = |_| out_of_memory(bytes, &io::Error::from(Errno::NOMEM));
    room.try_reserve_exact(values).map_err(no_room)?;
    Ok(room)
}

/// Round down to whole pages.
pub(crate) fn whole_pages(bytes: usize) -> usize {
    bytes / PAGE_BYTES * PAGE_BYTES
}

fn out_of_memory(bytes: usize, error: &io::Error) -> Fault {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::NOMEM);
    Fault::Memory { bytes, errno }
}
