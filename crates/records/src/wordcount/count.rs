//! Counting: words counted in memory, and what does not fit there spilled in sorted runs.

use std::sync::atomic::AtomicUsize;

use crate::error::Halt;
use crate::meter::Meter;
use crate::phases::Pieces;
use crate::wordcount::job::CountJob;
use crate::wordcount::memory::Share;
use crate::wordcount::run::Run;
use crate::wordcount::spills::Spills;
use crate::wordcount::split::{BATCH_WORDS, Batch, Split, SplitReader};
use crate::wordcount::table::Table;
use crate::wordcount::tally::Tally;
use crate::wordcount::word::Word;

/// Count the words of splits as long as there is a next one.
pub(crate) fn count_splits(
    job: &CountJob,
    splits: &[Split],
    pieces: &Pieces,
    turn: &AtomicUsize,
    meter: &mut Meter,
) -> Result<(Tally, Vec<Run>), Halt> {
    let mut counter = Counter::new(job, turn, meter)?;
    let mut reader = SplitReader::new(Share::of(job));
    while let Some(split) = pieces.take() {
        reader.each_batch(&splits[split], meter, |batch, meter| {
            counter.count(batch, meter)
        })?;
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
    fn new(job: &CountJob, turn: &'a AtomicUsize, meter: &Meter) -> Result<Self, Halt> {
        let table_bytes = Share::of(job).table_bytes();
        Ok(Self {
            table: Table::new(table_bytes, job.reducers, || meter.check_stop())?,
            tally: Tally::default(),
            spills: Spills::create(job, turn)?,
        })
    }

    /// Look at all words of a batch before the first is looked up: the table is larger than a
    /// CPU's caches, and what it has of them arrives meanwhile.
    fn count(&mut self, batch: &Batch, meter: &mut Meter) -> Result<(), Halt> {
        let mut tally = Tally::default();
        let words: [Word; BATCH_WORDS] = std::array::from_fn(|index| {
            let Some(place) = batch.places.get(index) else {
                return Word::NONE;
            };
            let word = Word::within(batch.text, *place);
            self.table.fetch(&word);
            tally.count(word.hash, 1);
            word
        });
        self.tally = self.tally + tally;
        let mut words = words[..batch.places.len()].iter();
        words.try_for_each(|word| self.add(word, meter))
    }

    #[inline]
    fn add(&mut self, word: &Word, meter: &mut Meter) -> Result<(), Halt> {
        if self.table.add(word).is_err() {
            self.spill(meter)?;
            let added = self.table.add(word);
            added.expect("an empty table has room for the longest word");
        }
        Ok(())
    }

    fn spill(&mut self, meter: &mut Meter) -> Result<(), Halt> {
        let table = &mut self.table;
        self.spills.write(meter, |run, meter| {
            table.sort(|| meter.check_stop())?;
            table.each_word(|word| run.push(word, meter))?;
            table.clear(|| meter.check_stop())
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
