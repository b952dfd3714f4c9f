//! Sorted run of words in a spill file, with a section per reducer.

use std::sync::Arc;

use integer_encoding::VarInt;
use iostudy_pattern::PAGE_BYTES;

use crate::error::Halt;
use crate::file::DataFile;
use crate::meter::Meter;
use crate::wordcount::table::WordEntry;
use crate::writer::Writer;

/// Maximum header size: word length and count as variable-length integers.
pub(crate) const MAX_HEADER_BYTES: usize = 20;

/// Location of a run.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) file: Arc<DataFile>,
    /// Start of each reducer's section, and the end of the run.
    pub(crate) bounds: Vec<u64>,
    pub(crate) longest_word: usize,
}

impl Run {
    pub(crate) fn bytes(&self) -> u64 {
        self.bounds[self.bounds.len() - 1] - self.bounds[0]
    }
}

/// Writer of one run.
pub(crate) struct RunWriter<'a> {
    writer: Writer<'a>,
    at: u64,
    bounds: Vec<u64>,
    longest_word: usize,
}

impl<'a> RunWriter<'a> {
    /// Create a writer to a file from `at`, with a buffer of at least two pages.
    pub(crate) fn new(file: &'a DataFile, buffer: &'a mut [u8], at: u64) -> Self {
        Self {
            writer: Writer::new(file, buffer, at),
            at,
            bounds: Vec::new(),
            longest_word: 0,
        }
    }

    /// Append a word; reducers and words must be in order.
    pub(crate) fn push(&mut self, word: &WordEntry, meter: &mut Meter) -> Result<(), Halt> {
        self.begin_sections(word.reducer + 1);
        let len = word.head.len() + word.rest.len();
        let mut header = [0; MAX_HEADER_BYTES];
        let mut header_len = len.encode_var(&mut header);
        header_len += word.count.encode_var(&mut header[header_len..]);
        self.writer.push(&header[..header_len], meter)?;
        for part in [word.head, word.rest] {
            push_long(&mut self.writer, part, meter)?;
        }
        self.at += (header_len + len) as u64;
        self.longest_word = self.longest_word.max(len);
        Ok(())
    }

    /// Start new sections up to this number.
    fn begin_sections(&mut self, sections: usize) {
        if self.bounds.len() < sections {
            self.bounds.resize(sections, self.at);
        }
    }

    /// Flush and return the run.
    pub(crate) fn finish(
        mut self,
        file: &Arc<DataFile>,
        reducers: usize,
        meter: &mut Meter,
    ) -> Result<Run, Halt> {
        self.begin_sections(reducers + 1);
        self.writer.flush(meter)?;
        Ok(Run {
            file: Arc::clone(file),
            bounds: self.bounds,
            longest_word: self.longest_word,
        })
    }
}

/// Write a word that may exceed the writer's buffer.
pub(crate) fn push_long(writer: &mut Writer, word: &[u8], meter: &mut Meter) -> Result<(), Halt> {
    let mut pieces = word.chunks(PAGE_BYTES);
    pieces.try_for_each(|piece| writer.push(piece, meter))
}
