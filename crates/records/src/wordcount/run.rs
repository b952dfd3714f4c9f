//! Sorted runs of words with a section per reducer, in the spill files of a thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use integer_encoding::VarInt;
use iostudy_pattern::{AlignedBuffer, PAGE_BYTES};

use crate::error::{Fault, Halt};
use crate::file::DataFile;
use crate::file::buffer;
use crate::meter::Meter;
use crate::spill_folders::SpillFolders;
use crate::wordcount::job::CountJob;
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

/// Spill files of a thread: one open file per folder for any number of runs.
pub(crate) struct SpillFiles<'a> {
    files: Vec<(Arc<DataFile>, u64)>,
    /// Number of runs of all threads, which selects the next folder.
    next_folder: &'a AtomicUsize,
    reducers: usize,
    buffer: AlignedBuffer,
    runs: Vec<Run>,
}

impl<'a> SpillFiles<'a> {
    /// Create the files and the write buffer of a thread.
    pub(crate) fn create(job: &CountJob, next_folder: &'a AtomicUsize) -> Result<Self, Fault> {
        let folders = SpillFolders::new(&job.spill, false);
        let make = |folder| folders.create(folder).map(|file| (Arc::new(file), 0));
        Ok(Self {
            files: (0..job.spill.len()).map(make).collect::<Result<_, _>>()?,
            next_folder,
            reducers: job.reducers,
            buffer: buffer(job.thread_memory().buffer_bytes())?,
            runs: Vec::new(),
        })
    }

    /// Write a run with the words that `fill` pushes.
    pub(crate) fn write(
        &mut self,
        meter: &mut Meter,
        fill: impl FnOnce(&mut RunWriter, &mut Meter) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let folder = self.next_folder.fetch_add(1, Ordering::Relaxed) % self.files.len();
        let (spill, end) = &mut self.files[folder];
        let mut writer = RunWriter::new(spill, &mut self.buffer, *end);
        fill(&mut writer, meter)?;
        let run = writer.finish(spill, self.reducers, meter)?;
        *end += run.bytes();
        self.runs.push(run);
        Ok(())
    }

    /// Return the written runs.
    pub(crate) fn into_runs(self) -> Vec<Run> {
        self.runs
    }
}
