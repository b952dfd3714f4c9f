//! Map phase: count words in memory and spill sorted runs.

use std::sync::atomic::AtomicUsize;

use crate::error::Halt;
use crate::meter::Meter;
use crate::phase_runner::WorkQueue;
use crate::wordcount::job::CountJob;
use crate::wordcount::run::Run;
use crate::wordcount::run::SpillFiles;
use crate::wordcount::split::{BATCH_WORDS, Batch, Split, SplitReader};
use crate::wordcount::table::Table;
use crate::wordcount::word::Word;
use crate::wordcount::word::WordSummary;

/// Count the words of splits from the queue.
pub(crate) fn count_splits(
    job: &CountJob,
    splits: &[Split],
    queue: &WorkQueue,
    next_folder: &AtomicUsize,
    meter: &mut Meter,
) -> Result<(WordSummary, Vec<Run>), Halt> {
    let mut counter = Counter::new(job, next_folder, meter)?;
    let mut reader = SplitReader::new(job.thread_memory());
    while let Some(split) = queue.next() {
        reader.each_batch(&splits[split], meter, |batch, meter| {
            counter.count(batch, meter)
        })?;
    }
    counter.finish(meter)
}

/// Word counter of one thread.
struct Counter<'a> {
    table: Table,
    summary: WordSummary,
    spill_files: SpillFiles<'a>,
}

impl<'a> Counter<'a> {
    fn new(job: &CountJob, next_folder: &'a AtomicUsize, meter: &Meter) -> Result<Self, Halt> {
        let table_bytes = job.thread_memory().table_bytes();
        Ok(Self {
            table: Table::new(table_bytes, job.reducers, || meter.check_stop())?,
            summary: WordSummary::default(),
            spill_files: SpillFiles::create(job, next_folder)?,
        })
    }

    /// Hash and prefetch all words of a batch before the first lookup, to hide cache misses of the
    /// large table.
    fn count(&mut self, batch: &Batch, meter: &mut Meter) -> Result<(), Halt> {
        let mut summary = WordSummary::default();
        let words: [Word; BATCH_WORDS] = std::array::from_fn(|index| {
            let Some(place) = batch.positions.get(index) else {
                return Word::NONE;
            };
            let word = Word::within(batch.text, *place);
            self.table.fetch(&word);
            summary.count(word.hash, 1);
            word
        });
        self.summary = self.summary + summary;
        let mut words = words[..batch.positions.len()].iter();
        words.try_for_each(|word| self.add(word, meter))
    }

    #[inline]
    fn add(&mut self, word: &Word, meter: &mut Meter) -> Result<(), Halt> {
        if self.table.add(word).is_err() {
            self.spill(meter)?;
            let added = self.table.add(word);
            added.expect("an empty table accepts the longest word");
        }
        Ok(())
    }

    fn spill(&mut self, meter: &mut Meter) -> Result<(), Halt> {
        let table = &mut self.table;
        self.spill_files.write(meter, |run, meter| {
            table.sort(|| meter.check_stop())?;
            table.each_word(|word| run.push(word, meter))?;
            table.clear(|| meter.check_stop())
        })
    }

    /// Spill the rest, as a map task does, so that the merge reads all words from files.
    fn finish(mut self, meter: &mut Meter) -> Result<(WordSummary, Vec<Run>), Halt> {
        if !self.table.is_empty() {
            self.spill(meter)?;
        }
        Ok((self.summary, self.spill_files.into_runs()))
    }
}
