//! Buffered sequential writer of a file range.

use std::ops::Range;

use iostudy_pattern::Record;

use crate::error::Halt;
use crate::file::{DataFile, in_page};
use crate::meter::Meter;

/// Calls by which a writer with a buffer of this size writes a range.
pub fn write_calls(range: Range<u64>, buffer_bytes: usize) -> impl Iterator<Item = Record> + Send {
    let mut offset = range.start;
    std::iter::from_fn(move || {
        let room = buffer_bytes - in_page(offset);
        let left = range.end.saturating_sub(offset);
        let len = usize::try_from(left).map_or(room, |left| left.min(room));
        let call = (len > 0).then_some(Record { offset, len });
        offset += len as u64;
        call
    })
}

/// Writer of consecutive pieces. Call `flush` at the end.
pub(crate) struct Writer<'a> {
    file: &'a DataFile,
    /// Whole pages; data have the same alignment as in the file.
    buffer: &'a mut [u8],
    start: usize,
    end: usize,
    offset: u64,
}

impl<'a> Writer<'a> {
    /// Create a writer from `offset` with a page-aligned buffer of whole pages.
    pub(crate) fn new(file: &'a DataFile, buffer: &'a mut [u8], offset: u64) -> Self {
        let start = in_page(offset);
        Self {
            file,
            buffer,
            start,
            end: start,
            offset,
        }
    }

    /// Append a piece of at most the buffer size minus a page.
    #[inline]
    pub(crate) fn push(&mut self, piece: &[u8], meter: &mut Meter) -> Result<(), Halt> {
        let room = self.buffer.len() - self.end;
        if piece.len() < room {
            self.append(piece);
            return Ok(());
        }
        let (now, later) = piece.split_at(room);
        self.append(now);
        self.flush(meter)?;
        self.append(later);
        Ok(())
    }

    #[inline]
    fn append(&mut self, piece: &[u8]) {
        self.buffer[self.end..self.end + piece.len()].copy_from_slice(piece);
        self.end += piece.len();
    }

    /// Write the buffered data. `push` calls it when the buffer is full.
    pub(crate) fn flush(&mut self, meter: &mut Meter) -> Result<(), Halt> {
        let data = &self.buffer[self.start..self.end];
        if !data.is_empty() {
            meter.write(data.len(), || self.file.write_at(data, self.offset))?;
        }
        self.offset += data.len() as u64;
        self.start = in_page(self.offset);
        self.end = self.start;
        Ok(())
    }
}
