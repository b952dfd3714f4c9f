//! Buffered sequential reader of a file range.

use std::ops::Range;

use iostudy_pattern::{PAGE_BYTES, Record};

use crate::error::{Fault, Halt};
use crate::file::{DataFile, in_page};
use crate::meter::Meter;

/// Maximum unconsumed data that `fill` keeps, stored in front of the buffer.
const KEPT_BYTES: usize = PAGE_BYTES;

/// Minimum buffer size of a reader.
pub(crate) const MIN_READER_BYTES: usize = KEPT_BYTES + PAGE_BYTES;

/// Calls by which a reader with a buffer of this size reads a range.
///
/// # Panics
///
/// If the buffer has no room for two pages.
pub fn read_calls(range: Range<u64>, buffer_bytes: usize) -> impl Iterator<Item = Record> + Send {
    assert!(buffer_bytes >= MIN_READER_BYTES, "room for two pages");
    let mut next = range.start - in_page(range.start) as u64;
    std::iter::from_fn(move || {
        let len = call_bytes(buffer_bytes, next..range.end);
        let call = (len > 0).then_some(Record { offset: next, len });
        next += len as u64;
        call
    })
}

/// Bytes of the next call of a reader with this buffer.
fn call_bytes(buffer_bytes: usize, unread: Range<u64>) -> usize {
    let room = (buffer_bytes - KEPT_BYTES) / PAGE_BYTES * PAGE_BYTES;
    let left = unread.end.saturating_sub(unread.start);
    usize::try_from(left).map_or(room, |left| left.min(room))
}

/// Reader of a file range. The window holds data that are read but not consumed.
pub(crate) struct Reader<'a> {
    file: &'a DataFile,
    /// Page-aligned; the first page is for data that `fill` keeps.
    buffer: &'a mut [u8],
    start: usize,
    end: usize,
    /// Offset of the next read, at a page boundary.
    next: u64,
    /// Bytes of that page before the range.
    skip: usize,
    range_end: u64,
}

impl<'a> Reader<'a> {
    /// Create a reader of the bytes from `start` to `end` with a page-aligned buffer.
    pub(crate) fn new(file: &'a DataFile, buffer: &'a mut [u8], start: u64, end: u64) -> Self {
        assert!(buffer.len() >= MIN_READER_BYTES, "room for two pages");
        let skip = in_page(start);
        Self {
            file,
            buffer,
            start: KEPT_BYTES,
            end: KEPT_BYTES,
            next: start - skip as u64,
            skip,
            range_end: end,
        }
    }

    /// Data that are read but not consumed.
    #[inline]
    pub(crate) fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    #[inline]
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.start += bytes;
    }

    /// Whether the whole range has been read.
    pub(crate) fn at_end(&self) -> bool {
        self.next >= self.range_end
    }

    /// Read the next block and keep the window, which has less than a page. At the end of the range
    /// this does nothing.
    pub(crate) fn fill(&mut self, meter: &mut Meter) -> Result<(), Halt> {
        if self.at_end() {
            return Ok(());
        }
        let kept = self.end - self.start;
        self.buffer
            .copy_within(self.start..self.end, KEPT_BYTES - kept);
        let (offset, wanted) = (self.next, self.wanted());
        let room = wanted.next_multiple_of(PAGE_BYTES);
        let data = &mut self.buffer[KEPT_BYTES..KEPT_BYTES + room];
        let found = meter.read(|| self.file.read_at(data, offset))?;
        if found < wanted {
            return Err(self.unexpected_end(offset + found as u64).into());
        }
        self.start = KEPT_BYTES - kept + self.skip;
        self.end = KEPT_BYTES + wanted;
        self.next += wanted as u64;
        self.skip = 0;
        Ok(())
    }

    /// Bytes of the range that the next read transfers.
    fn wanted(&self) -> usize {
        call_bytes(self.buffer.len(), self.next..self.range_end)
    }

    fn unexpected_end(&self, at: u64) -> Fault {
        let expected = self.range_end;
        Fault::InvalidData {
            path: self.file.path().to_owned(),
            found: format!("ends at byte {at}, before the expected end at byte {expected}"),
        }
    }
}
