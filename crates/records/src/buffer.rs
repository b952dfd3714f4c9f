//! Memory for the calls of a job.

use std::io;

use iostudy_pattern::{AlignedBuffer, PAGE_BYTES};
use rustix::io::Errno;

use crate::error::Fault;

/// The largest buffer of one call: larger ones make no call cheaper, and leave the CPU's cache.
pub(crate) const LARGEST_CALL_BYTES: usize = 1 << 20;

/// The smallest: below, seeks and system calls would be what is measured.
pub(crate) const SMALLEST_CALL_BYTES: usize = 64 << 10;

/// A buffer at a page boundary.
pub(crate) fn buffer(bytes: usize) -> Result<AlignedBuffer, Fault> {
    AlignedBuffer::new(bytes).map_err(|error| no_memory(bytes, &error))
}

/// Room for so many values, none of them there yet.
pub(crate) fn room_for<T>(values: usize) -> Result<Vec<T>, Fault> {
    let mut room = Vec::new();
    let bytes = values * size_of::<T>();
    let no_room = |_| no_memory(bytes, &io::Error::from(Errno::NOMEM));
    room.try_reserve_exact(values).map_err(no_room)?;
    Ok(room)
}

/// So many bytes, or as much less as makes whole pages.
pub(crate) fn whole_pages(bytes: usize) -> usize {
    bytes / PAGE_BYTES * PAGE_BYTES
}

fn no_memory(bytes: usize, error: &io::Error) -> Fault {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::NOMEM);
    Fault::Memory { bytes, errno }
}
