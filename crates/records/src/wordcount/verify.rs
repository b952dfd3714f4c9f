//! Verification of the output's order and sums.

use std::path::{Path, PathBuf};

use crate::error::{Fault, Halt};
use crate::folder::{REDUCE_PART, part_name};
use crate::meter::Meter;
use crate::phase_runner::WorkQueue;
use crate::wordcount::job::CountJob;
use crate::wordcount::partition::partition;
use crate::wordcount::split::{SplitReader, splits};
use crate::wordcount::word::Word;
use crate::wordcount::word::WordSummary;

/// Words of one output part.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PartResult {
    pub(crate) summary: WordSummary,
    pub(crate) distinct_words: u64,
}

/// Read parts from the queue; their words must ascend and belong to the part.
pub(crate) fn read_parts(
    job: &CountJob,
    queue: &WorkQueue,
    meter: &mut Meter,
) -> Result<PartResult, Halt> {
    let mut reader = SplitReader::new(job.thread_memory());
    let mut found = PartResult::default();
    while let Some(part) = queue.next() {
        let path = job.output.join(part_name(REDUCE_PART, part));
        let lines = read_part(&path, &mut reader, meter, |word| {
            partition(word, job.reducers) == part
        })?;
        found.summary = found.summary + lines.summary;
        found.distinct_words += lines.distinct_words;
    }
    Ok(found)
}

fn read_part(
    path: &PathBuf,
    reader: &mut SplitReader,
    meter: &mut Meter,
    belongs: impl Fn(&[u8]) -> bool,
) -> Result<PartResult, Halt> {
    let mut lines = Lines::default();
    for split in splits(std::slice::from_ref(path), u64::MAX)? {
        reader.each_batch(&split, meter, |batch, _| {
            let taken = batch
                .words()
                .try_for_each(|token| lines.take(token, &belongs));
            Ok(taken.map_err(|what| lines.invalid_data(path, what))?)
        })?;
    }
    if lines.inside {
        return Err(lines.invalid_data(path, "ends without a count").into());
    }
    Ok(lines.found)
}

/// Parser of a part's lines: a word and its count each.
#[derive(Default)]
struct Lines {
    found: PartResult,
    word: Vec<u8>,
    /// Whether the next token is a count.
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
        self.found
            .summary
            .count(Word::alone(&self.word).hash, count);
        self.found.distinct_words += 1;
        Ok(())
    }

    fn invalid_data(&self, path: &Path, what: &str) -> Fault {
        Fault::InvalidData {
            path: path.to_owned(),
            found: format!("{what}, in line {}", self.found.distinct_words + 1),
        }
    }
}
