//! `TeraGen`: generation of rows in parts of equal size.

use std::path::PathBuf;
use std::time::Instant;

use super::generator::Generator;
use super::plan::InvalidJob;
use super::row::Checksum;
use super::row::Outcome;
use crate::error::{Error, Halt};
use crate::file::{MAX_CALL_BYTES, buffer};
use crate::folder::{MAP_PART, OutputFolder};
use crate::meter::Meter;
use crate::phase_runner::{PhaseRunner, WorkQueue};
use crate::writer::Writer;

/// Generation job.
#[derive(Debug, Clone)]
pub struct GenerateJob {
    /// Output folder, which must not exist.
    pub output: PathBuf,
    /// Number of rows.
    pub rows: u64,
    /// Number of files, as map tasks of `TeraGen`.
    pub parts: usize,
    /// Number of parts written in parallel.
    pub threads: usize,
    /// `O_DIRECT`: bypass the page cache.
    pub direct: bool,
    /// Sync each part with fsync.
    pub fsync: bool,
}

impl GenerateJob {
    /// Check the job without touching any file.
    ///
    /// # Errors
    ///
    /// The first reason why the job is invalid.
    pub fn validate(&self) -> Result<(), InvalidJob> {
        let (parts, threads) = (self.parts as u64, self.threads as u64);
        InvalidJob::any_zero(&[("rows", self.rows), ("parts", parts), ("threads", threads)])
    }

    /// First row of a part, as in `TeraGen`'s splits.
    ///
    /// # Panics
    ///
    /// Never: it is at most all rows.
    pub fn first_row(&self, part: usize) -> u64 {
        let rows = u128::from(self.rows) * part as u128;
        u64::try_from(rows.div_ceil(self.parts as u128)).expect("at most all rows")
    }
}

/// Generate the rows. `tick` is called about every 50 ms with the bytes transferred so far. When it
/// returns false, or after an error, the folder is removed.
///
/// # Errors
///
/// The first error of any file; [`Error::Stopped`] if the caller stopped the job.
///
/// # Panics
///
/// If the job is not valid; see [`GenerateJob::validate`].
pub fn generate(job: &GenerateJob, tick: &mut dyn FnMut(u64) -> bool) -> Result<Outcome, Error> {
    job.validate().expect("the job must be valid");
    let started = Instant::now();
    let output = OutputFolder::create(&job.output, MAP_PART).map_err(Error::Fault)?;
    let mut phases = PhaseRunner::new(tick);
    let queue = WorkQueue::new(job.parts);
    let sums = phases.run(job.threads.min(job.parts), |meter| {
        write_parts(job, &output, &queue, meter)
    })?;
    output.commit(job.parts, job.fsync).map_err(Error::Fault)?;
    Ok(Outcome {
        rows: job.rows,
        checksum: Some(sums.into_iter().sum()),
        wall: started.elapsed(),
        call_stats: phases.into_call_stats(),
    })
}

fn write_parts(
    job: &GenerateJob,
    output: &OutputFolder,
    queue: &WorkQueue,
    meter: &mut Meter,
) -> Result<Checksum, Halt> {
    let mut outgoing = buffer(MAX_CALL_BYTES)?;
    let mut checksum = Checksum::default();
    while let Some(part) = queue.next() {
        let file = output.part(part, job.direct)?;
        let (first, end) = (job.first_row(part), job.first_row(part + 1));
        let mut writer = Writer::new(&file, &mut outgoing, 0);
        let mut generator = Generator::from_row(first);
        for _ in first..end {
            let row = generator.next_row();
            checksum.add_row(&row);
            writer.push(&row, meter)?;
        }
        writer.flush(meter)?;
        file.finish(job.fsync)?;
    }
    Ok(checksum)
}
