//! A part of a text, and the words that begin in it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Fault, Halt};
use crate::file::DataFile;
use crate::meter::Meter;
use crate::wordcount::memory::Share;
use crate::wordcount::tokens::Words;

/// How far to read on for the end of a split's last word before looking for it.
const TAIL_BYTES: u64 = 4096;

/// A part of a file. A word belongs to the split that it begins in, and is read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split<'a> {
    pub(crate) path: &'a Path,
    pub(crate) range: Range<u64>,
    /// The whole file's size when the job began.
    pub(crate) file_bytes: u64,
}

/// The parts of files, none longer than `split_bytes`; empty files have none.
///
/// # Errors
///
/// A file cannot be opened.
pub(crate) fn splits(paths: &[PathBuf], split_bytes: u64) -> Result<Vec<Split<'_>>, Fault> {
    let mut all = Vec::new();
    for path in paths {
        let file_bytes = DataFile::open(path, false)?.size()?;
        let starts = (0..file_bytes).step_by(usize::try_from(split_bytes).unwrap_or(usize::MAX));
        all.extend(starts.map(|start| Split {
            path,
            range: start..file_bytes.min(start + split_bytes),
            file_bytes,
        }));
    }
    Ok(all)
}

/// Enough that what is asked of the memory for the first word is there when the last has been seen.
pub(crate) const BATCH_WORDS: usize = 64;

/// Some of the words of a text, in their order.
pub(crate) struct Batch<'a> {
    pub(crate) text: &'a [u8],
    /// Where, as `(start, end)`.
    pub(crate) places: &'a [(usize, usize)],
}

impl<'a> Batch<'a> {
    pub(crate) fn words(&self) -> impl Iterator<Item = &'a [u8]> {
        let text = self.text;
        self.places.iter().map(|(start, end)| &text[*start..*end])
    }
}

/// Reads splits through one buffer.
pub(crate) struct SplitReader {
    block_bytes: usize,
    longest_word: usize,
    /// The beginning of a word whose end has not been read, and what has been read last.
    text: Vec<u8>,
}

/// What is being read.
struct Progress {
    /// Where the next read begins.
    next: u64,
    /// How much of the buffer's start has been looked at before: a word without its end.
    kept: usize,
    /// Whether the word at the buffer's start began before the split.
    foreign: bool,
}

impl SplitReader {
    /// Takes a buffer's bytes and those of the longest word, as far as they are needed.
    pub(crate) fn new(share: Share) -> Self {
        Self {
            block_bytes: share.buffer_bytes(),
            longest_word: share.longest_word(),
            text: Vec::new(),
        }
    }

    /// Give every word of a split, in batches of at most [`BATCH_WORDS`].
    pub(crate) fn each_batch(
        &mut self,
        split: &Split,
        meter: &mut Meter,
        mut give: impl FnMut(&Batch, &mut Meter) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let file = DataFile::open(split.path, false)?;
        // The byte before tells whether the first word begins there.
        let mut progress = Progress {
            next: split.range.start.saturating_sub(1),
            kept: 0,
            foreign: split.range.start > 0,
        };
        while progress.next < split.range.end {
            self.read(&file, split, &mut progress, meter)?;
            self.give_words(&mut progress, usize::MAX, meter, &mut give)?;
            self.keep(&file, &mut progress)?;
        }
        while progress.kept > 0 && !progress.foreign && progress.next < split.file_bytes {
            self.read(&file, split, &mut progress, meter)?;
            if self.give_words(&mut progress, 1, meter, &mut give)? {
                return Ok(());
            }
            self.keep(&file, &mut progress)?;
        }
        if progress.kept > 0 && !progress.foreign {
            let batch = Batch {
                text: &self.text,
                places: &[(0, progress.kept)],
            };
            give(&batch, meter)?;
        }
        Ok(())
    }

    /// Read a block behind what is kept: up to the end of the split, then a little at a time.
    fn read(
        &mut self,
        file: &DataFile,
        split: &Split,
        progress: &mut Progress,
        meter: &mut Meter,
    ) -> Result<(), Halt> {
        let end = if progress.next < split.range.end {
            split.range.end
        } else {
            split.file_bytes.min(progress.next + TAIL_BYTES)
        };
        let left = usize::try_from(end - progress.next).unwrap_or(usize::MAX);
        let wanted = left.min(self.block_bytes);
        self.text.truncate(progress.kept);
        self.text.reserve_exact(wanted); // no more than its share of the memory
        self.text.resize(progress.kept + wanted, 0);
        let block = &mut self.text[progress.kept..];
        let found = meter.read(|| file.read_at(block, progress.next))?;
        progress.next += found as u64;
        if found < wanted {
            return Err(cut(split, progress.next).into());
        }
        Ok(())
    }

    /// Give the first words that end in the buffer, at most so many; whether there was one.
    fn give_words(
        &mut self,
        progress: &mut Progress,
        most: usize,
        meter: &mut Meter,
        give: &mut impl FnMut(&Batch, &mut Meter) -> Result<(), Halt>,
    ) -> Result<bool, Halt> {
        let mut words = Words::new(&self.text);
        let mut left = words.by_ref().take(most);
        let mut places = [(0, 0); BATCH_WORDS];
        let mut given = false;
        while let Some(mut found) = fill(&mut places, &mut left) {
            if progress.foreign && found[0].0 == 0 {
                found = &found[1..];
            }
            let batch = Batch {
                text: &self.text,
                places: found,
            };
            give(&batch, meter)?;
            given = true;
        }
        let open = words.open();
        progress.foreign &= open == Some(0);
        progress.kept = open.map_or(0, |start| self.text.len() - start);
        Ok(given)
    }

    /// Bring the word without its end to the buffer's start.
    fn keep(&mut self, file: &DataFile, progress: &mut Progress) -> Result<(), Fault> {
        if progress.foreign {
            progress.kept = 1; // what it is does not matter, only that it goes on
        }
        if progress.kept > self.longest_word {
            return Err(too_long(file, progress, self.longest_word));
        }
        let start = self.text.len() - progress.kept;
        self.text.copy_within(start.., 0);
        Ok(())
    }
}

/// Put the next values in their places; nothing if there is none.
#[inline]
fn fill<'a, T>(places: &'a mut [T], values: &mut impl Iterator<Item = T>) -> Option<&'a [T]> {
    let mut filled = 0;
    for (place, value) in places.iter_mut().zip(values) {
        *place = value;
        filled += 1;
    }
    (filled > 0).then(|| &places[..filled])
}

fn cut(split: &Split, at: u64) -> Fault {
    Fault::Wrong {
        path: split.path.to_owned(),
        found: format!(
            "ends at byte {at}; it had {} bytes when the job began",
            split.file_bytes
        ),
    }
}

fn too_long(file: &DataFile, progress: &Progress, longest: usize) -> Fault {
    let start = progress.next - progress.kept as u64;
    Fault::Wrong {
        path: file.path().to_owned(),
        found: format!(
            "has a word of more than {longest} bytes at byte {start}, the longest that the \
             memory of a thread allows"
        ),
    }
}
