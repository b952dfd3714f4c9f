//! Input splits and the words that begin in them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Fault, Halt};
use crate::file::DataFile;
use crate::meter::Meter;
use crate::wordcount::job::ThreadMemory;
use crate::wordcount::tokens::Words;

/// Step in bytes for reading the rest of a split's last word.
pub const TAIL_BYTES: u64 = 4096;

/// Largest size of a split: large enough for sequential I/O, small enough to balance the threads.
pub const SPLIT_BYTES: u64 = 16 << 20;

/// Part of a file. A word belongs to the split in which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split<'a> {
    pub(crate) path: &'a Path,
    pub(crate) range: Range<u64>,
    /// File size at the start of the job.
    pub(crate) file_bytes: u64,
}

/// Split files into parts of at most `split_bytes`; empty files have none.
///
/// # Errors
///
/// A file cannot be opened.
pub(crate) fn splits(paths: &[PathBuf], split_bytes: u64) -> Result<Vec<Split<'_>>, Fault> {
    let mut all = Vec::new();
    for path in paths {
        let file_bytes = DataFile::open(path, false)?.size()?;
        all.extend(split_ranges(file_bytes, split_bytes).map(|range| Split {
            path,
            range,
            file_bytes,
        }));
    }
    Ok(all)
}

/// Ranges of the splits of a file.
pub fn split_ranges(file_bytes: u64, split_bytes: u64) -> impl Iterator<Item = Range<u64>> {
    let starts = (0..file_bytes).step_by(usize::try_from(split_bytes).unwrap_or(usize::MAX));
    starts.map(move |start| start..file_bytes.min(start + split_bytes))
}

/// Batch size that hides the memory latency of the prefetch.
pub(crate) const BATCH_WORDS: usize = 64;

/// Consecutive words of a text.
pub(crate) struct Batch<'a> {
    pub(crate) text: &'a [u8],
    /// Positions as `(start, end)`.
    pub(crate) positions: &'a [(usize, usize)],
}

impl<'a> Batch<'a> {
    pub(crate) fn words(&self) -> impl Iterator<Item = &'a [u8]> {
        let text = self.text;
        self.positions
            .iter()
            .map(|(start, end)| &text[*start..*end])
    }
}

/// Reader of splits with one buffer.
pub(crate) struct SplitReader {
    block_bytes: usize,
    longest_word: usize,
    /// Unfinished word and the last block read.
    text: Vec<u8>,
}

/// State of reading a split.
struct ReadState {
    /// Offset of the next read.
    next: u64,
    /// Length of the unfinished word at the buffer's start.
    unfinished: usize,
    /// Whether that word began before the split.
    foreign: bool,
}

impl SplitReader {
    /// Create a reader within the memory for a buffer and the longest word.
    pub(crate) fn new(memory: ThreadMemory) -> Self {
        Self {
            block_bytes: memory.buffer_bytes(),
            longest_word: memory.longest_word(),
            text: Vec::new(),
        }
    }

    /// Call `emit` with every word of a split, in batches of at most [`BATCH_WORDS`].
    pub(crate) fn each_batch(
        &mut self,
        split: &Split,
        meter: &mut Meter,
        mut emit: impl FnMut(&Batch, &mut Meter) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let file = DataFile::open(split.path, false)?;
        // The previous byte shows whether the first word begins at the split.
        let mut state = ReadState {
            next: split.range.start.saturating_sub(1),
            unfinished: 0,
            foreign: split.range.start > 0,
        };
        while state.next < split.range.end {
            self.read(&file, split, &mut state, meter)?;
            self.emit_words(&mut state, usize::MAX, meter, &mut emit)?;
            self.keep(&file, &mut state)?;
        }
        while state.unfinished > 0 && !state.foreign && state.next < split.file_bytes {
            self.read(&file, split, &mut state, meter)?;
            if self.emit_words(&mut state, 1, meter, &mut emit)? {
                return Ok(());
            }
            self.keep(&file, &mut state)?;
        }
        if state.unfinished > 0 && !state.foreign {
            let batch = Batch {
                text: &self.text,
                positions: &[(0, state.unfinished)],
            };
            emit(&batch, meter)?;
        }
        Ok(())
    }

    /// Read the next block: up to the end of the split, then in small steps.
    fn read(
        &mut self,
        file: &DataFile,
        split: &Split,
        state: &mut ReadState,
        meter: &mut Meter,
    ) -> Result<(), Halt> {
        let end = if state.next < split.range.end {
            split.range.end
        } else {
            split.file_bytes.min(state.next + TAIL_BYTES)
        };
        let left = usize::try_from(end - state.next).unwrap_or(usize::MAX);
        let wanted = left.min(self.block_bytes);
        self.text.truncate(state.unfinished);
        self.text.reserve_exact(wanted); // no more than the thread's memory
        self.text.resize(state.unfinished + wanted, 0);
        let block = &mut self.text[state.unfinished..];
        let found = meter.read(|| file.read_at(block, state.next))?;
        state.next += found as u64;
        if found < wanted {
            return Err(cut(split, state.next).into());
        }
        Ok(())
    }

    /// Emit up to `most` complete words. Return whether there was one.
    fn emit_words(
        &mut self,
        state: &mut ReadState,
        most: usize,
        meter: &mut Meter,
        emit: &mut impl FnMut(&Batch, &mut Meter) -> Result<(), Halt>,
    ) -> Result<bool, Halt> {
        let mut words = Words::new(&self.text);
        let mut left = words.by_ref().take(most);
        let mut positions = [(0, 0); BATCH_WORDS];
        let mut given = false;
        while let Some(mut found) = fill(&mut positions, &mut left) {
            if state.foreign && found[0].0 == 0 {
                found = &found[1..];
            }
            let batch = Batch {
                text: &self.text,
                positions: found,
            };
            emit(&batch, meter)?;
            given = true;
        }
        let open = words.open();
        state.foreign &= open == Some(0);
        state.unfinished = open.map_or(0, |start| self.text.len() - start);
        Ok(given)
    }

    /// Move the unfinished word to the buffer's start.
    fn keep(&mut self, file: &DataFile, state: &mut ReadState) -> Result<(), Fault> {
        if state.foreign {
            state.unfinished = 1; // only its continuation matters
        }
        if state.unfinished > self.longest_word {
            return Err(too_long(file, state, self.longest_word));
        }
        let start = self.text.len() - state.unfinished;
        self.text.copy_within(start.., 0);
        Ok(())
    }
}

/// Fill positions with the next values; `None` if there are none.
#[inline]
fn fill<'a, T>(positions: &'a mut [T], values: &mut impl Iterator<Item = T>) -> Option<&'a [T]> {
    let mut filled = 0;
    for (place, value) in positions.iter_mut().zip(values) {
        *place = value;
        filled += 1;
    }
    (filled > 0).then(|| &positions[..filled])
}

fn cut(split: &Split, at: u64) -> Fault {
    Fault::InvalidData {
        path: split.path.to_owned(),
        found: format!(
            "ends at byte {at}; it had {} bytes when the job began",
            split.file_bytes
        ),
    }
}

fn too_long(file: &DataFile, state: &ReadState, longest: usize) -> Fault {
    let start = state.next - state.unfinished as u64;
    Fault::InvalidData {
        path: file.path().to_owned(),
        found: format!(
            "has a word of more than {longest} bytes at byte {start}, the longest that the \
             memory of a thread allows"
        ),
    }
}
