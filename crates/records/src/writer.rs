//! A range of a file, written from its start on through one large buffer.

use crate::error::Halt;
use crate::file::{DataFile, in_page};
use crate::meter::Meter;

/// Writes one piece after the other. What is still in the buffer at the end has to be flushed.
pub(crate) struct Writer<'a> {
    file: &'a DataFile,
    /// Whole pages; bytes lie within its pages as they do within those of the file.
    buffer: &'a mut [u8],
    start: usize,
    end: usize,
    offset: u64,
}

impl<'a> Writer<'a> {
    /// From `offset` on, through a buffer of whole pages that begins at a page.
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

    /// Append a piece that is not larger than the buffer less a page.
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

    /// Write what is in the buffer. To be called once at the end; `push` does it when it is full.
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
