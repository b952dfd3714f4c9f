//! `TeraValidate`: check of the row order over all parts, and their checksum.

use std::path::PathBuf;
use std::time::Instant;

use super::input::Input;
use super::plan::InvalidJob;
use super::row::Outcome;
use super::row::{Checksum, key, key_text};
use crate::error::{Error, Fault, Halt};
use crate::file::{MAX_CALL_BYTES, buffer};
use crate::meter::Meter;
use crate::phase_runner::{PhaseRunner, WorkQueue};

/// Validation job.
#[derive(Debug, Clone)]
pub struct ValidateJob {
    /// Input folder with parts in name order.
    pub input: PathBuf,
    /// Number of parts read in parallel.
    pub threads: usize,
    /// `O_DIRECT`: bypass the page cache.
    pub direct: bool,
}

/// Row whose key is smaller than its predecessor's.
#[derive(Debug, Clone, Copy)]
struct MisplacedRow {
    /// Row number within its part, from 0.
    row: u64,
    before: u128,
    key: u128,
}

/// Summary of one part.
#[derive(Debug, Default, Clone)]
struct PartSummary {
    number: usize,
    rows: u64,
    ends: Option<(u128, u128)>,
    misplaced: Option<MisplacedRow>,
    checksum: Checksum,
}

impl ValidateJob {
    /// Check the job without touching any file.
    ///
    /// # Errors
    ///
    /// The first reason why the job is invalid.
    pub fn validate(&self) -> Result<(), InvalidJob> {
        InvalidJob::any_zero(&[("threads", self.threads as u64)])
    }
}

/// Validate the rows. `tick` is called about every 50 ms with the bytes transferred so far; the job
/// stops when it returns false.
///
/// # Errors
///
/// The first misplaced row, or the first error of any file; [`Error::Stopped`] if the caller
/// stopped the job.
///
/// # Panics
///
/// If the job is not valid; see [`ValidateJob::validate`].
pub fn validate(job: &ValidateJob, tick: &mut dyn FnMut(u64) -> bool) -> Result<Outcome, Error> {
    job.validate().expect("the job must be valid");
    let started = Instant::now();
    let input = Input::open(&job.input, job.direct).map_err(Error::Fault)?;
    let mut phases = PhaseRunner::new(tick);
    let queue = WorkQueue::new(input.parts());
    let threads = job.threads.min(input.parts()).max(1);
    let parts = phases.run(threads, |meter| check_parts(&input, &queue, meter))?;
    let mut parts: Vec<PartSummary> = parts.into_iter().flatten().collect();
    parts.sort_unstable_by_key(|part| part.number);
    if let Some((part, misplaced)) = first_misplaced(&parts) {
        return Err(Error::Fault(out_of_order(&input, part, misplaced)));
    }
    Ok(Outcome {
        rows: parts.iter().map(|part| part.rows).sum(),
        checksum: Some(parts.iter().map(|part| part.checksum).sum()),
        wall: started.elapsed(),
        call_stats: phases.into_call_stats(),
    })
}

fn check_parts(
    input: &Input,
    queue: &WorkQueue,
    meter: &mut Meter,
) -> Result<Vec<PartSummary>, Halt> {
    let mut incoming = buffer(MAX_CALL_BYTES)?;
    let mut parts = Vec::new();
    while let Some(number) = queue.next() {
        let mut part = PartSummary {
            number,
            ..PartSummary::default()
        };
        input.each_row_of_part(number, &mut incoming, meter, |row| part.add_row(row))?;
        parts.push(part);
    }
    Ok(parts)
}

impl PartSummary {
    #[inline]
    fn add_row(&mut self, row: &[u8]) {
        let key = key(row);
        let (first, before) = self.ends.unwrap_or((key, key));
        if key < before {
            let row = self.rows;
            let misplaced = MisplacedRow { row, before, key };
            self.misplaced.get_or_insert(misplaced);
        }
        self.ends = Some((first, key));
        self.rows += 1;
        self.checksum.add_row(row);
    }
}

/// First misplaced row, with the index of its part.
fn first_misplaced(parts: &[PartSummary]) -> Option<(usize, MisplacedRow)> {
    let mut before = 0;
    for part in parts {
        let Some((first, last)) = part.ends else {
            continue;
        };
        if first < before {
            let key = first;
            return Some((
                part.number,
                MisplacedRow {
                    row: 0,
                    before,
                    key,
                },
            ));
        }
        if let Some(misplaced) = part.misplaced {
            return Some((part.number, misplaced));
        }
        before = last;
    }
    None
}

fn out_of_order(input: &Input, part: usize, misplaced: MisplacedRow) -> Fault {
    let MisplacedRow { row, before, key } = misplaced;
    let (key, before) = (key_text(key), key_text(before));
    Fault::InvalidData {
        path: input.path(part).to_owned(),
        found: format!(
            "is out of order: row {row} (from 0) has the key {key}, the row before it {before}"
        ),
    }
}
