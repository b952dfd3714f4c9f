//! Counting: words counted in memory, and what does not fit there spilled in sorted runs.

use std::sync::atomic::AtomicUsize;

use crate::error::{Fault, Halt};
use crate::meter::Meter;
use crate::phases::Pieces;
use crate::wordcount::job::CountJob;
use crate::wordcount::memory::Share;
use crate::wordcount::run::Run;
use crate::wordcount::spills::Spills;
use crate::wordcount::split::{Split, SplitReader};
use crate::wordcount::table::Table;
use crate::wordcount::tally::{Tally, hash};

/// Count the words of splits as long as there is a next one.
pub(crate) fn count_splits(
    job: &CountJob,
    splits: &[Split],
    pieces: &Pieces,
    turn: &AtomicUsize,
    meter: &mut Meter,
) -> Result<(Tally, Vec<Run>), Halt> {
    let mut counter = Counter::new(job, turn)?;
    let mut reader = SplitReader::new(Share::of(job));
    while let Some(split) = pieces.take() {
        let take = |word: &[u8], meter: &mut Meter| counter.count(word, meter);
        reader.each_word(&splits[split], meter, take)?;
    }
    counter.finish(meter)
}

/// One thread's words.
struct Counter<'a> {
    table: Table,
    tally: Tally,
    spills: Spills<'a>,
}

impl<'a> Counter<'a> {
    fn new(job: &CountJob, turn: &'a AtomicUsize) -> Result<Self, Fault> {
        Ok(Self {
            table: Table::new(Share::of(job).table_bytes(), job.reducers)?,
            tally: Tally::default(),
            spills: Spills::create(job, turn)?,
        })
    }

    #[inline]
    fn count(&mut self, word: &[u8], meter: &mut Meter) -> Result<(), Halt> {
        let hash = hash(word);
        self.tally.count(hash, 1);
        if self.table.add(word, hash).is_err() {
            self.spill(meter)?;
            let added = self.table.add(word, hash);
            added.expect("an empty table has room for the longest word");
        }
        Ok(())
    }

    fn spill(&mut self, meter: &mut Meter) -> Result<(), Halt> {
        let table = &mut self.table;
        self.spills.write(meter, |run, meter| {
            table.empty(|word| run.push(word, meter))
        })
    }

    /// Spill what is left, as a map task does, so that merging finds all words in files.
    fn finish(mut self, meter: &mut Meter) -> Result<(Tally, Vec<Run>), Halt> {
        if !self.table.is_empty() {
            self.spill(meter)?;
        }
        Ok((self.tally, self.spills.into_runs()))
    }
}
