//! Execution and verification of a word count job.

use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use crate::error::{Error, Fault};
use crate::folder::{OutputFolder, REDUCE_PART};
use crate::phase_runner::{PhaseRunner, WorkQueue};
use crate::wordcount::count::count_splits;
use crate::wordcount::job::{CountJob, CountResult};
use crate::wordcount::merge::merge_groups;
use crate::wordcount::merge::write_parts;
use crate::wordcount::merge::{fit, groups};
use crate::wordcount::run::Run;
use crate::wordcount::split::{SPLIT_BYTES, splits};
use crate::wordcount::verify::read_parts;
use crate::wordcount::word::WordSummary;

/// Count the words. `tick` is called about every 50 ms on the calling thread with the bytes read
/// and written so far. When it returns false, the threads stop.
///
/// The measured time ends with the commit. Then the output is read again to verify order and sums.
///
/// # Errors
///
/// The first error of any thread. A text that shrinks during the job, and an output with other
/// words than the texts, are [`Fault::InvalidData`].
///
/// # Panics
///
/// If the job is not valid; see [`CountJob::validate`].
pub fn count(job: &CountJob, tick: &mut dyn FnMut(u64) -> bool) -> Result<CountResult, Error> {
    job.validate().expect("the job must be valid");
    let started = Instant::now();
    let folder = OutputFolder::create(&job.output, REDUCE_PART).map_err(Error::Fault)?;
    let mut phases = PhaseRunner::new(tick);
    let (text_bytes, (summary, runs)) = spill_runs(job, &mut phases)?;
    let counting = started.elapsed();
    let totals = merge_runs(job, runs, &folder, &mut phases)?;
    folder
        .commit(job.reducers, job.fsync)
        .map_err(Error::Fault)?;
    let wall = started.elapsed();
    let call_stats = phases.into_call_stats();
    let moved = call_stats.bytes();
    let distinct_words = verify(job, summary, &mut |more| tick(moved + more))?;
    Ok(CountResult {
        text_bytes,
        summary,
        distinct_words,
        spilled_bytes: totals.bytes,
        runs: totals.runs,
        memory_bytes: job.threads * job.thread_memory().counting_bytes(),
        call_stats,
        counting,
        wall,
    })
}

type Counts = (WordSummary, Vec<Run>);

/// Read the texts and spill their words in sorted runs. Return the text size and the counts.
fn spill_runs(job: &CountJob, phases: &mut PhaseRunner<'_>) -> Result<(u64, Counts), Error> {
    let splits = splits(&job.inputs, SPLIT_BYTES).map_err(Error::Fault)?;
    let text_bytes = splits
        .iter()
        .map(|split| split.range.end - split.range.start);
    let (queue, next_folder) = (WorkQueue::new(splits.len()), AtomicUsize::new(0));
    let counted = phases.run(job.threads, |meter| {
        count_splits(job, &splits, &queue, &next_folder, meter)
    })?;
    let (summaries, runs): (Vec<WordSummary>, Vec<Vec<Run>>) = counted.into_iter().unzip();
    let summary = summaries.into_iter().sum();
    if let Some(expected) = job.expected {
        compare(&job.inputs[0], "the generated text had", expected, summary)?;
    }
    Ok((text_bytes.sum(), (summary, runs.concat())))
}

/// Merge runs until one final merge fits into memory, then write the output.
fn merge_runs(
    job: &CountJob,
    mut runs: Vec<Run>,
    folder: &OutputFolder,
    phases: &mut PhaseRunner<'_>,
) -> Result<SpillTotals, Error> {
    let mut totals = SpillTotals::default();
    totals.add(&runs);
    let merge_bytes = job.thread_memory().merge_bytes();
    while !fit(&runs, merge_bytes) {
        let groups = groups(&runs, merge_bytes);
        let (queue, next_folder) = (WorkQueue::new(groups.len()), AtomicUsize::new(0));
        let merged = phases.run(job.threads, |meter| {
            merge_groups(job, &groups, &queue, &next_folder, meter)
        })?;
        runs = merged.concat();
        totals.add(&runs);
    }
    let queue = WorkQueue::new(job.reducers);
    phases.run(job.threads, |meter| {
        write_parts(job, &runs, folder, &queue, meter)
    })?;
    Ok(totals)
}

/// Totals of spilled runs, including those of merge passes.
#[derive(Default)]
struct SpillTotals {
    runs: u64,
    bytes: u64,
}

impl SpillTotals {
    fn add(&mut self, runs: &[Run]) {
        self.runs += runs.len() as u64;
        self.bytes += runs.iter().map(Run::bytes).sum::<u64>();
    }
}

/// Verify the output against the counted words. Return the number of distinct words.
fn verify(
    job: &CountJob,
    counted: WordSummary,
    tick: &mut dyn FnMut(u64) -> bool,
) -> Result<u64, Error> {
    let queue = WorkQueue::new(job.reducers);
    let mut phases = PhaseRunner::new(tick);
    let found = phases.run(job.threads, |meter| read_parts(job, &queue, meter))?;
    let written = found.iter().map(|part| part.summary).sum();
    compare(&job.output, "the texts had", counted, written)?;
    Ok(found.iter().map(|part| part.distinct_words).sum())
}

/// Compare two summaries.
fn compare(path: &Path, of: &str, wanted: WordSummary, found: WordSummary) -> Result<(), Error> {
    if wanted == found {
        return Ok(());
    }
    Err(Error::Fault(Fault::InvalidData {
        path: path.to_owned(),
        found: format!("holds {found}, but {of} {wanted}"),
    }))
}
