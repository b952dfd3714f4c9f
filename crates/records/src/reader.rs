//! A range of a file, read from its start to its end through one large buffer.

use iostudy_pattern::PAGE_BYTES;

use crate::error::{Fault, Halt};
use crate::file::{DataFile, in_page};
use crate::meter::Meter;

/// The largest piece that `fill` keeps, and what it needs in front of the buffer for it.
const KEPT_BYTES: usize = PAGE_BYTES;

/// The smallest buffer a reader works with.
pub(crate) const MIN_READER_BYTES: usize = KEPT_BYTES + PAGE_BYTES;

/// Reads a range of a file. What has been read and not been consumed is the window.
pub(crate) struct Reader<'a> {
    file: &'a DataFile,
    /// Begins at a page, as `AlignedBuffer` does; the first page is for what `fill` keeps.
    buffer: &'a mut [u8],
    start: usize,
    end: usize,
    /// Where the next read begins: at a page of the file.
    next: u64,
    /// What lies in that page before the range.
    skip: usize,
    range_end: u64,
}

impl<'a> Reader<'a> {
    /// Of the bytes from `start` to `end`, in a buffer that begins at a page.
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

    /// What has been read and not been consumed.
    #[inline]
    pub(crate) fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    #[inline]
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.start += bytes;
    }

    /// Whether the window is the last.
    pub(crate) fn at_end(&self) -> bool {
        self.next >= self.range_end
    }

    /// Read on, keeping the window, which has less than a page; nothing at the end of the range.
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
            return Err(self.ends_early(offset + found as u64).into());
        }
        self.start = KEPT_BYTES - kept + self.skip;
        self.end = KEPT_BYTES + wanted;
        self.next += wanted as u64;
        self.skip = 0;
        Ok(())
    }

    /// How much of the range the next read brings.
    fn wanted(&self) -> usize {
        let room = (self.buffer.len() - KEPT_BYTES) / PAGE_BYTES * PAGE_BYTES;
        usize::try_from(self.range_end - self.next).map_or(room, |left| left.min(room))
    }

    fn ends_early(&self, at: u64) -> Fault {
        let expected = self.range_end;
        Fault::Wrong {
            path: self.file.path().to_owned(),
            found: format!(
                "ends at byte {at}, before byte {expected}, up to which it was to be read"
            ),
        }
    }
}
