//! `TeraSort`: an external sort within a memory limit.

use std::path::PathBuf;
use std::time::Instant;

use super::chunks::{Chunks, Run};
use super::input::Input;
use super::invalid::Invalid;
use super::merge::Merge;
use super::plan::{Plan, Wanted};
use super::result::{Outcome, Sorted};
use super::row::{Checksum, ROW};
use super::sample::split_points;
use crate::error::{Error, Fault};
use crate::folder::OutputFolder;
use crate::phases::{Phases, Pieces};
use crate::spill::SpillFolders;

/// Rows to be sorted.
#[derive(Debug, Clone)]
pub struct SortJob {
    /// The folder with the rows.
    pub input: PathBuf,
    /// The folder for the sorted rows, which must not be there yet.
    pub output: PathBuf,
    /// How many rows there are.
    pub rows: u64,
    /// What the job may take, in bytes.
    pub memory: u64,
    /// Folders for the runs, which are spread over them in turn.
    pub spill: Vec<PathBuf>,
    /// Parts of the output, in the order of their keys.
    pub reducers: usize,
    /// How many chunks, and later ranges of keys, are worked on at a time.
    pub threads: usize,
    /// `O_DIRECT`, past the page cache.
    pub direct: bool,
    /// End each part with fsync; spills are not synced, as nobody needs them after a crash.
    pub fsync: bool,
}

impl SortJob {
    /// Check that the job can work at all; nothing is touched.
    ///
    /// # Errors
    ///
    /// The first reason why it cannot.
    pub fn validate(&self) -> Result<(), Invalid> {
        let (reducers, threads) = (self.reducers as u64, self.threads as u64);
        let rows = ("rows", self.rows);
        Invalid::any_zero(&[rows, ("reducers", reducers), ("threads", threads)])?;
        if self.spill.is_empty() {
            return Err(Invalid::NoSpillFolders);
        }
        self.plan().map(|_| ())
    }

    /// The most descriptors that it has open at a time: of every run, and of the file that each
    /// thread reads or writes; past the page cache each is open twice.
    ///
    /// # Errors
    ///
    /// The job is not valid.
    pub fn descriptors(&self) -> Result<usize, Invalid> {
        let files = self.plan()?.chunks + self.threads;
        Ok(files * (1 + usize::from(self.direct)))
    }

    fn plan(&self) -> Result<Plan, Invalid> {
        let wanted = Wanted {
            rows: self.rows,
            threads: self.threads,
            reducers: self.reducers,
        };
        wanted.plan(self.memory).ok_or_else(|| Invalid::Memory {
            given: self.memory,
            threads: self.threads,
            rows: self.rows,
            least: wanted.least_memory(),
        })
    }
}

/// Sort the rows. `tick` is called about every 50 ms with the bytes moved so far, and stops the job
/// when it says no; then, and after an error, nothing of output and spills is left.
///
/// # Errors
///
/// The first error of any file; [`Error::Stopped`] if the caller stopped it.
///
/// # Panics
///
/// If the job is not valid; see [`SortJob::validate`].
pub fn sort(job: &SortJob, tick: impl FnMut(u64) -> bool) -> Result<Sorted, Error> {
    job.validate().expect("a job is validated before it is run");
    let plan = job.plan().expect("validated");
    let started = Instant::now();
    let mut phases = Phases::new(tick);
    let input = look_at_input(job).map_err(Error::Fault)?;
    let output = OutputFolder::create(&job.output, "part-r-").map_err(Error::Fault)?;
    let runs = make_runs(job, &plan, &input, &mut phases)?;
    let spilled = started.elapsed();
    let checksum = merge_runs(job, &plan, &runs, &output, &mut phases)?;
    let spilled_bytes = spilled_bytes(job, &runs);
    drop(runs); // which frees what the spills took, inside the measured time
    output
        .commit(job.reducers, job.fsync)
        .map_err(Error::Fault)?;
    let merged = started.elapsed();
    Ok(Sorted {
        outcome: Outcome {
            rows: job.rows,
            checksum,
            wall: merged,
            calls: phases.into_calls(),
        },
        spill: spilled,
        merge: merged.saturating_sub(spilled),
        spilled_bytes,
        memory_bytes: plan.memory_bytes,
    })
}

fn look_at_input(job: &SortJob) -> Result<Input, Fault> {
    let input = Input::of(&job.input, job.direct)?;
    let (found, expected) = (input.rows(), job.rows);
    if found == expected {
        return Ok(input);
    }
    Err(Fault::Wrong {
        path: job.input.clone(),
        found: format!("holds {found} rows, not {expected}"),
    })
}

fn make_runs<F: FnMut(u64) -> bool>(
    job: &SortJob,
    plan: &Plan,
    input: &Input,
    phases: &mut Phases<F>,
) -> Result<Vec<Run>, Error> {
    let ranges = plan.slices * job.reducers;
    let splits = phases.run(1, |meter| split_points(input, ranges, meter))?;
    let chunks = Chunks {
        plan,
        input,
        spill: SpillFolders::new(&job.spill, job.direct),
        splits: &splits[0],
        pieces: Pieces::new(plan.chunks),
    };
    let runs = phases.run(job.threads, |meter| chunks.work(meter))?;
    let mut runs: Vec<(usize, Run)> = runs.into_iter().flatten().collect();
    runs.sort_unstable_by_key(|(number, _)| *number);
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}

fn merge_runs<F: FnMut(u64) -> bool>(
    job: &SortJob,
    plan: &Plan,
    runs: &[Run],
    output: &OutputFolder,
    phases: &mut Phases<F>,
) -> Result<Checksum, Error> {
    let merge = Merge {
        plan,
        runs,
        output,
        reducers: job.reducers,
        pieces: Pieces::new(plan.slices * job.reducers),
        direct: job.direct,
        fsync: job.fsync,
    };
    let sums = phases.run(job.threads, |meter| merge.work(meter))?;
    Ok(sums.into_iter().sum())
}

/// What each spill folder had to take.
fn spilled_bytes(job: &SortJob, runs: &[Run]) -> Vec<u64> {
    let folders = SpillFolders::new(&job.spill, job.direct);
    let mut bytes = vec![0; job.spill.len()];
    for (number, run) in runs.iter().enumerate() {
        bytes[folders.folder_of(number)] += run.starts[run.starts.len() - 1] * ROW;
    }
    bytes
}
