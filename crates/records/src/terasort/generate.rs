//! `TeraGen`: rows in parts of even size.

use std::path::PathBuf;
use std::time::Instant;

use super::generator::Generator;
use super::invalid::Invalid;
use super::result::Outcome;
use super::row::Checksum;
use crate::buffer::{LARGEST_CALL_BYTES, buffer};
use crate::error::{Error, Halt};
use crate::folder::OutputFolder;
use crate::meter::Meter;
use crate::phases::{Phases, Pieces};
use crate::writer::Writer;

/// Rows to be made.
#[derive(Debug, Clone)]
pub struct GenerateJob {
    /// The folder, which must not be there yet.
    pub output: PathBuf,
    /// How many, numbered from 0.
    pub rows: u64,
    /// Files that share them, as map tasks of `TeraGen` do.
    pub parts: usize,
    /// How many parts are written at a time.
    pub threads: usize,
    /// `O_DIRECT`, past the page cache.
    pub direct: bool,
    /// End each part with fsync.
    pub fsync: bool,
}

impl GenerateJob {
    /// Check that the job can work at all; nothing is touched.
    ///
    /// # Errors
    ///
    /// The first reason why it cannot.
    pub fn validate(&self) -> Result<(), Invalid> {
        let (parts, threads) = (self.parts as u64, self.threads as u64);
        Invalid::any_zero(&[("rows", self.rows), ("parts", parts), ("threads", threads)])
    }

    /// The first row of a part, by the rule of `TeraGen`'s splits.
    fn first_row(&self, part: usize) -> u64 {
        let rows = u128::from(self.rows) * part as u128;
        u64::try_from(rows.div_ceil(self.parts as u128)).expect("at most all rows")
    }
}

/// Make the rows. `tick` is called about every 50 ms with the bytes moved so far, and stops the job
/// when it says no; then, and after an error, nothing of the folder is left.
///
/// # Errors
///
/// The first error of any file; [`Error::Stopped`] if the caller stopped it.
///
/// # Panics
///
/// If the job is not valid; see [`GenerateJob::validate`].
pub fn generate(job: &GenerateJob, tick: impl FnMut(u64) -> bool) -> Result<Outcome, Error> {
    job.validate().expect("a job is validated before it is run");
    let started = Instant::now();
    let output = OutputFolder::create(&job.output, "part-m-").map_err(Error::Fault)?;
    let mut phases = Phases::new(tick);
    let pieces = Pieces::new(job.parts);
    let sums = phases.run(job.threads.min(job.parts), |meter| {
        write_parts(job, &output, &pieces, meter)
    })?;
    output.commit(job.parts, job.fsync).map_err(Error::Fault)?;
    Ok(Outcome {
        rows: job.rows,
        checksum: sums.into_iter().sum(),
        wall: started.elapsed(),
        calls: phases.into_calls(),
    })
}

fn write_parts(
    job: &GenerateJob,
    output: &OutputFolder,
    pieces: &Pieces,
    meter: &mut Meter,
) -> Result<Checksum, Halt> {
    let mut outgoing = buffer(LARGEST_CALL_BYTES)?;
    let mut checksum = Checksum::default();
    while let Some(part) = pieces.take() {
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
