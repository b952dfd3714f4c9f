//! Verifying: the output read back, its order and its sums.

use std::path::{Path, PathBuf};

use crate::error::{Fault, Halt};
use crate::meter::Meter;
use crate::phases::Pieces;
use crate::wordcount::job::CountJob;
use crate::wordcount::memory::Share;
use crate::wordcount::reducer::reducer;
use crate::wordcount::split::{SplitReader, splits};
use crate::wordcount::tally::Tally;
use crate::wordcount::word::Word;

/// What was found in the output.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Found {
    pub(crate) tally: Tally,
    pub(crate) distinct: u64,
}

/// Read parts as long as there is a next one: their words ascend and belong to them.
pub(crate) fn read_parts(
    job: &CountJob,
    pieces: &Pieces,
    meter: &mut Meter,
) -> Result<Found, Halt> {
    let mut reader = SplitReader::new(Share::of(job));
    let mut found = Found::default();
    while let Some(part) = pieces.take() {
        let path = job.output.join(format!("part-r-{part:05}"));
        let lines = read_part(&path, &mut reader, meter, |word| {
            reducer(word, job.reducers) == part
        })?;
        found.tally = found.tally + lines.tally;
        found.distinct += lines.distinct;
    }
    Ok(found)
}

fn read_part(
    path: &PathBuf,
    reader: &mut SplitReader,
    meter: &mut Meter,
    belongs: impl Fn(&[u8]) -> bool,
) -> Result<Found, Halt> {
    let mut lines = Lines::default();
    for split in splits(std::slice::from_ref(path), u64::MAX)? {
        reader.each_batch(&split, meter, |batch, _| {
            let taken = batch
                .words()
                .try_for_each(|token| lines.take(token, &belongs));
            Ok(taken.map_err(|what| lines.wrong(path, what))?)
        })?;
    }
    if lines.inside {
        return Err(lines.wrong(path, "ends without a count").into());
    }
    Ok(lines.found)
}

/// The lines of a part as far as they have been read: in each a word and its count.
#[derive(Default)]
struct Lines {
    found: Found,
    word: Vec<u8>,
    /// Whether a word has been read, and its count comes next.
    inside: bool,
}

impl Lines {
    fn take(&mut self, token: &[u8], belongs: impl Fn(&[u8]) -> bool) -> Result<(), &'static str> {
        if self.inside {
            self.take_count(token)?;
        } else if token <= &self.word[..] {
            return Err("has a word that is not behind the one before");
        } else if !belongs(token) {
            return Err("has a word of another reducer");
        } else {
            self.word.clear();
            self.word.extend_from_slice(token);
        }
        self.inside = !self.inside;
        Ok(())
    }

    fn take_count(&mut self, token: &[u8]) -> Result<(), &'static str> {
        let digits = std::str::from_utf8(token).ok();
        let count = digits.and_then(|digits| digits.parse().ok());
        let count = count.ok_or("has no number where the count should be")?;
        self.found.tally.count(Word::alone(&self.word).hash, count);
        self.found.distinct += 1;
        Ok(())
    }

    fn wrong(&self, path: &Path, what: &str) -> Fault {
        Fault::Wrong {
            path: path.to_owned(),
            found: format!("{what}, in line {}", self.found.distinct + 1),
        }
    }
}
