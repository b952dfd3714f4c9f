//! A job from its first split to its commit, and the verification after it.

use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use crate::error::{Error, Fault};
use crate::folder::OutputFolder;
use crate::phases::{Phases, Pieces};
use crate::wordcount::count::count_splits;
use crate::wordcount::job::{CountJob, CountResult};
use crate::wordcount::memory::Share;
use crate::wordcount::merge::{fit, groups};
use crate::wordcount::pass::merge_groups;
use crate::wordcount::reduce::write_parts;
use crate::wordcount::run::Run;
use crate::wordcount::split::splits;
use crate::wordcount::tally::Tally;
use crate::wordcount::verify::read_parts;

/// Large enough for the disk, small enough that the threads end together.
const SPLIT_BYTES: u64 = 16 << 20;

/// Count the words. `tick` is called about every 50 ms on the calling thread with the bytes read
/// and written so far; once it says no, the threads stop.
///
/// Timed is everything up to the commit of the output. Afterwards the output is read back, and its
/// order and its sums are verified.
///
/// # Errors
///
/// The first error of any thread. A text that is cut meanwhile, and an output that does not hold
/// the words of the texts, are [`Fault::Wrong`].
///
/// # Panics
///
/// If the job is not valid; see [`CountJob::validate`].
pub fn count(job: &CountJob, mut tick: impl FnMut(u64) -> bool) -> Result<CountResult, Error> {
    job.validate().expect("a job is validated before it is run");
    let started = Instant::now();
    let folder = OutputFolder::create(&job.output, "part-r-").map_err(Error::Fault)?;
    let mut phases = Phases::new(&mut tick);
    let (text_bytes, (tally, runs)) = spill_runs(job, &mut phases)?;
    let counting = started.elapsed();
    let spilled = merge_runs(job, runs, &folder, &mut phases)?;
    folder
        .commit(job.reducers, job.fsync)
        .map_err(Error::Fault)?;
    let wall = started.elapsed();
    let calls = phases.into_calls();
    let moved = calls.bytes();
    let distinct = verify(job, tally, |more| tick(moved + more))?;
    Ok(CountResult {
        text_bytes,
        tally,
        distinct,
        spilled_bytes: spilled.bytes,
        runs: spilled.runs,
        memory_bytes: job.threads * Share::of(job).counting_bytes(),
        calls,
        counting,
        wall,
    })
}

type Counts = (Tally, Vec<Run>);

/// Read the texts, whose size is given first, and spill their words in sorted runs.
fn spill_runs<F: FnMut(u64) -> bool>(
    job: &CountJob,
    phases: &mut Phases<F>,
) -> Result<(u64, Counts), Error> {
    let splits = splits(&job.inputs, SPLIT_BYTES).map_err(Error::Fault)?;
    let text_bytes = splits
        .iter()
        .map(|split| split.range.end - split.range.start);
    let (pieces, turn) = (Pieces::new(splits.len()), AtomicUsize::new(0));
    let counted = phases.run(job.threads, |meter| {
        count_splits(job, &splits, &pieces, &turn, meter)
    })?;
    let (tallies, runs): (Vec<Tally>, Vec<Vec<Run>>) = counted.into_iter().unzip();
    let tally = tallies.into_iter().sum();
    if let Some(expected) = job.expected {
        compare(
            &job.inputs[0],
            "the text as it was made had",
            expected,
            tally,
        )?;
    }
    Ok((text_bytes.sum(), (tally, runs.concat())))
}

/// Merge runs until all of them fit into memory at once, and then into the output.
fn merge_runs<F: FnMut(u64) -> bool>(
    job: &CountJob,
    mut runs: Vec<Run>,
    folder: &OutputFolder,
    phases: &mut Phases<F>,
) -> Result<Spilled, Error> {
    let mut spilled = Spilled::default();
    spilled.add(&runs);
    let merge_bytes = Share::of(job).merge_bytes();
    while !fit(&runs, merge_bytes) {
        let groups = groups(&runs, merge_bytes);
        let (pieces, turn) = (Pieces::new(groups.len()), AtomicUsize::new(0));
        let merged = phases.run(job.threads, |meter| {
            merge_groups(job, &groups, &pieces, &turn, meter)
        })?;
        runs = merged.concat();
        spilled.add(&runs);
    }
    let pieces = Pieces::new(job.reducers);
    phases.run(job.threads, |meter| {
        write_parts(job, &runs, folder, &pieces, meter)
    })?;
    Ok(spilled)
}

/// Sorted runs that were written, those of merging passes among them.
#[derive(Default)]
struct Spilled {
    runs: u64,
    bytes: u64,
}

impl Spilled {
    fn add(&mut self, runs: &[Run]) {
        self.runs += runs.len() as u64;
        self.bytes += runs.iter().map(Run::bytes).sum::<u64>();
    }
}

/// Read the output back and compare it with what was counted; the number of different words.
fn verify(job: &CountJob, counted: Tally, tick: impl FnMut(u64) -> bool) -> Result<u64, Error> {
    let pieces = Pieces::new(job.reducers);
    let mut phases = Phases::new(tick);
    let found = phases.run(job.threads, |meter| read_parts(job, &pieces, meter))?;
    let written = found.iter().map(|part| part.tally).sum();
    compare(&job.output, "the texts had", counted, written)?;
    Ok(found.iter().map(|part| part.distinct).sum())
}

/// Both tallies must be the same.
fn compare(path: &Path, of: &str, wanted: Tally, found: Tally) -> Result<(), Error> {
    if wanted == found {
        return Ok(());
    }
    Err(Error::Fault(Fault::Wrong {
        path: path.to_owned(),
        found: format!("holds {found}, but {of} {wanted}"),
    }))
}
