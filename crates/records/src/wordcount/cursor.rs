//! Cursor over one section of a run.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use integer_encoding::VarInt;

use crate::error::{Fault, Halt};
use crate::file::DataFile;
use crate::meter::Meter;
use crate::wordcount::run::{MAX_HEADER_BYTES, Run};

/// Cursor over a section. The order is reversed by word, as a max-heap requires.
pub(crate) struct Cursor {
    file: Arc<DataFile>,
    /// Part of the section that is still unread.
    unread: Range<u64>,
    buffer: Vec<u8>,
    /// End of the data in the buffer.
    filled: usize,
    word: Range<usize>,
    count: u64,
}

impl Cursor {
    /// Create a cursor before the first word of a reducer's section. The buffer must hold the
    /// longest word with its header.
    pub(crate) fn new(run: &Run, reducer: usize, buffer_bytes: usize) -> Self {
        Self {
            file: Arc::clone(&run.file),
            unread: run.bounds[reducer]..run.bounds[reducer + 1],
            buffer: vec![0; buffer_bytes],
            filled: 0,
            word: 0..0,
            count: 0,
        }
    }

    pub(crate) fn word(&self) -> &[u8] {
        &self.buffer[self.word.clone()]
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Advance to the next word. Return whether there is one.
    pub(crate) fn advance(&mut self, meter: &mut Meter) -> Result<bool, Halt> {
        self.word.start = self.word.end;
        self.need(MAX_HEADER_BYTES, meter)?;
        if self.word.end == self.filled {
            return Ok(false);
        }
        let (header_bytes, word_bytes, count) = self.header().ok_or_else(|| self.damaged())?;
        self.count = count;
        self.need(header_bytes + word_bytes, meter)?;
        self.word.start += header_bytes;
        self.word.end = self.word.start + word_bytes;
        if self.word.end > self.filled {
            return Err(self.damaged().into());
        }
        Ok(true)
    }

    /// Header length, word length and count.
    fn header(&self) -> Option<(usize, usize, u64)> {
        let read = &self.buffer[self.word.start..self.filled];
        let (word_bytes, first) = usize::decode_var(read)?;
        let (count, second) = u64::decode_var(&read[first..])?;
        Some((first + second, word_bytes, count))
    }

    /// Ensure `bytes` in the buffer from the word's start, or all remaining ones.
    fn need(&mut self, bytes: usize, meter: &mut Meter) -> Result<(), Halt> {
        if self.filled - self.word.start >= bytes || self.unread.is_empty() {
            return Ok(());
        }
        self.buffer.copy_within(self.word.start..self.filled, 0);
        self.filled -= self.word.start;
        self.word = 0..0;
        let left = usize::try_from(self.unread.end - self.unread.start).unwrap_or(usize::MAX);
        let end = self.buffer.len().min(self.filled.saturating_add(left));
        let (to, at) = (&mut self.buffer[self.filled..end], self.unread.start);
        let wanted = to.len();
        if meter.read(|| self.file.read_at(to, at))? < wanted {
            return Err(self.damaged().into());
        }
        self.filled = end;
        self.unread.start += wanted as u64;
        Ok(())
    }

    fn damaged(&self) -> Fault {
        Fault::InvalidData {
            path: self.file.path().to_owned(),
            found: format!("has been changed before byte {}", self.unread.start),
        }
    }
}

impl Ord for Cursor {
    fn cmp(&self, other: &Self) -> Ordering {
        other.word().cmp(self.word())
    }
}

impl PartialOrd for Cursor {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cursor {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cursor {}
