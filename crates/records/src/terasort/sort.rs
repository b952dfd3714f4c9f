//! `TeraSort`: external sort within a memory limit.

use std::path::PathBuf;
use std::time::Instant;

use super::chunks::{Chunks, Run};
use super::input::Input;
use super::merge::Merge;
use super::plan::InvalidJob;
use super::plan::{Plan, SortRequest};
use super::row::{Checksum, ROW};
use super::row::{Outcome, SortOutcome};
use super::split_points::split_points;
use crate::error::{Error, Fault};
use crate::folder::{OutputFolder, REDUCE_PART};
use crate::phase_runner::{PhaseRunner, WorkQueue};
use crate::spill_folders::SpillFolders;

/// Sort job.
#[derive(Debug, Clone)]
pub struct SortJob {
    /// Input folder.
    pub input: PathBuf,
    /// Output folder, which must not exist.
    pub output: PathBuf,
    /// Number of rows.
    pub rows: u64,
    /// Memory limit in bytes.
    pub memory: u64,
    /// Spill folders, used in turn.
    pub spill: Vec<PathBuf>,
    /// Number of output parts, in key order.
    pub reducers: usize,
    /// Number of threads.
    pub threads: usize,
    /// `O_DIRECT`: bypass the page cache.
    pub direct: bool,
    /// Sync each part with fsync; spills are never synced, because they are useless after a crash.
    pub fsync: bool,
}

impl SortJob {
    /// Check the job without touching any file.
    ///
    /// # Errors
    ///
    /// The first reason why the job is invalid.
    pub fn validate(&self) -> Result<(), InvalidJob> {
        let (reducers, threads) = (self.reducers as u64, self.threads as u64);
        let rows = ("rows", self.rows);
        InvalidJob::any_zero(&[rows, ("reducers", reducers), ("threads", threads)])?;
        if self.spill.is_empty() {
            return Err(InvalidJob::NoSpillFolders);
        }
        self.plan().map(|_| ())
    }

    /// Maximum number of open descriptors: one per run and one per thread, doubled with direct I/O.
    ///
    /// # Errors
    ///
    /// The job is invalid.
    pub fn descriptors(&self) -> Result<usize, InvalidJob> {
        let files = self.plan()?.chunks + self.threads;
        Ok(files * (1 + usize::from(self.direct)))
    }

    /// Division of the rows and the memory.
    ///
    /// # Errors
    ///
    /// The job is invalid.
    pub fn plan(&self) -> Result<Plan, InvalidJob> {
        let wanted = SortRequest {
            rows: self.rows,
            threads: self.threads,
            reducers: self.reducers,
        };
        wanted.plan(self.memory).ok_or_else(|| InvalidJob::Memory {
            given: self.memory,
            threads: self.threads,
            rows: self.rows,
            least: wanted.min_memory(),
        })
    }
}

/// Sort the rows. `tick` is called about every 50 ms with the bytes transferred so far. When it
/// returns false, or after an error, output and spills are removed.
///
/// # Errors
///
/// The first error of any file; [`Error::Stopped`] if the caller stopped the job.
///
/// # Panics
///
/// If the job is not valid; see [`SortJob::validate`].
pub fn sort(job: &SortJob, tick: &mut dyn FnMut(u64) -> bool) -> Result<SortOutcome, Error> {
    job.validate().expect("the job must be valid");
    let plan = job.plan().expect("validated");
    let started = Instant::now();
    let mut phases = PhaseRunner::new(tick);
    let input = open_input(job).map_err(Error::Fault)?;
    let output = OutputFolder::create(&job.output, REDUCE_PART).map_err(Error::Fault)?;
    let runs = write_runs(job, &plan, &input, &mut phases)?;
    let spill_time = started.elapsed();
    let checksum = merge_runs(job, &plan, &runs, &output, &mut phases)?;
    let spilled_bytes = spilled_bytes(job, &runs);
    drop(runs); // frees the spill space within the measured time
    output
        .commit(job.reducers, job.fsync)
        .map_err(Error::Fault)?;
    let merged = started.elapsed();
    Ok(SortOutcome {
        outcome: Outcome {
            rows: job.rows,
            checksum: Some(checksum),
            wall: merged,
            call_stats: phases.into_call_stats(),
        },
        spill: spill_time,
        merge: merged.saturating_sub(spill_time),
        spilled_bytes,
        memory_bytes: plan.memory_bytes,
    })
}

fn open_input(job: &SortJob) -> Result<Input, Fault> {
    let input = Input::open(&job.input, job.direct)?;
    let (found, expected) = (input.rows(), job.rows);
    if found == expected {
        return Ok(input);
    }
    Err(Fault::InvalidData {
        path: job.input.clone(),
        found: format!("holds {found} rows, not {expected}"),
    })
}

fn write_runs(
    job: &SortJob,
    plan: &Plan,
    input: &Input,
    phases: &mut PhaseRunner<'_>,
) -> Result<Vec<Run>, Error> {
    let ranges = plan.slices * job.reducers;
    let splits = phases.run(1, |meter| split_points(input, ranges, meter))?;
    let chunks = Chunks {
        plan,
        input,
        spill: SpillFolders::new(&job.spill, job.direct),
        splits: &splits[0],
        queue: WorkQueue::new(plan.chunks),
    };
    let runs = phases.run(job.threads, |meter| chunks.work(meter))?;
    let mut runs: Vec<(usize, Run)> = runs.into_iter().flatten().collect();
    runs.sort_unstable_by_key(|(number, _)| *number);
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}

fn merge_runs(
    job: &SortJob,
    plan: &Plan,
    runs: &[Run],
    output: &OutputFolder,
    phases: &mut PhaseRunner<'_>,
) -> Result<Checksum, Error> {
    let merge = Merge {
        plan,
        runs,
        output,
        reducers: job.reducers,
        queue: WorkQueue::new(plan.slices * job.reducers),
        direct: job.direct,
        fsync: job.fsync,
    };
    let sums = phases.run(job.threads, |meter| merge.work(meter))?;
    Ok(sums.into_iter().sum())
}

/// Bytes per spill folder.
fn spilled_bytes(job: &SortJob, runs: &[Run]) -> Vec<u64> {
    let folders = SpillFolders::new(&job.spill, job.direct);
    let mut bytes = vec![0; job.spill.len()];
    for (number, run) in runs.iter().enumerate() {
        bytes[folders.folder_index(number)] += run.starts[run.starts.len() - 1] * ROW;
    }
    bytes
}
