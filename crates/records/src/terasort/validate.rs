//! `TeraValidate`: whether rows are in order through all parts, and their checksum.

use std::path::PathBuf;
use std::time::Instant;

use super::input::Input;
use super::invalid::Invalid;
use super::result::Outcome;
use super::row::{Checksum, key, key_text};
use crate::buffer::{LARGEST_CALL_BYTES, buffer};
use crate::error::{Error, Fault, Halt};
use crate::meter::Meter;
use crate::phases::{Phases, Pieces};

/// Sorted rows to be checked.
#[derive(Debug, Clone)]
pub struct ValidateJob {
    /// The folder with the parts, whose names give their order.
    pub input: PathBuf,
    /// How many parts are read at a time.
    pub threads: usize,
    /// `O_DIRECT`, past the page cache.
    pub direct: bool,
}

/// A row whose key is smaller than that of the row before it.
#[derive(Debug, Clone, Copy)]
struct Misplaced {
    /// Its number within its part, from 0.
    row: u64,
    before: u128,
    key: u128,
}

/// What one part holds.
#[derive(Debug, Default, Clone)]
struct Part {
    number: usize,
    rows: u64,
    ends: Option<(u128, u128)>,
    misplaced: Option<Misplaced>,
    checksum: Checksum,
}

impl ValidateJob {
    /// Check that the job can work at all; nothing is touched.
    ///
    /// # Errors
    ///
    /// The first reason why it cannot.
    pub fn validate(&self) -> Result<(), Invalid> {
        Invalid::any_zero(&[("threads", self.threads as u64)])
    }
}

/// Check the rows. `tick` is called about every 50 ms with the bytes moved so far, and stops the
/// job when it says no.
///
/// # Errors
///
/// The first row that is misplaced, or the first error of any file; [`Error::Stopped`] if the
/// caller stopped it.
///
/// # Panics
///
/// If the job is not valid; see [`ValidateJob::validate`].
pub fn validate(job: &ValidateJob, tick: impl FnMut(u64) -> bool) -> Result<Outcome, Error> {
    job.validate().expect("a job is validated before it is run");
    let started = Instant::now();
    let input = Input::of(&job.input, job.direct).map_err(Error::Fault)?;
    let mut phases = Phases::new(tick);
    let pieces = Pieces::new(input.parts());
    let threads = job.threads.min(input.parts()).max(1);
    let parts = phases.run(threads, |meter| look_at_parts(&input, &pieces, meter))?;
    let mut parts: Vec<Part> = parts.into_iter().flatten().collect();
    parts.sort_unstable_by_key(|part| part.number);
    if let Some((part, misplaced)) = first_misplaced(&parts) {
        return Err(Error::Fault(out_of_order(&input, part, misplaced)));
    }
    Ok(Outcome {
        rows: parts.iter().map(|part| part.rows).sum(),
        checksum: parts.iter().map(|part| part.checksum).sum(),
        wall: started.elapsed(),
        calls: phases.into_calls(),
    })
}

fn look_at_parts(input: &Input, pieces: &Pieces, meter: &mut Meter) -> Result<Vec<Part>, Halt> {
    let mut incoming = buffer(LARGEST_CALL_BYTES)?;
    let mut parts = Vec::new();
    while let Some(number) = pieces.take() {
        let mut part = Part {
            number,
            ..Part::default()
        };
        input.each_row_of(number, &mut incoming, meter, |row| part.note(row))?;
        parts.push(part);
    }
    Ok(parts)
}

impl Part {
    #[inline]
    fn note(&mut self, row: &[u8]) {
        let key = key(row);
        let (first, before) = self.ends.unwrap_or((key, key));
        if key < before {
            let row = self.rows;
            let misplaced = Misplaced { row, before, key };
            self.misplaced.get_or_insert(misplaced);
        }
        self.ends = Some((first, key));
        self.rows += 1;
        self.checksum.add_row(row);
    }
}

/// The first row out of order, with the number of its part.
fn first_misplaced(parts: &[Part]) -> Option<(usize, Misplaced)> {
    let mut before = 0;
    for part in parts {
        let Some((first, last)) = part.ends else {
            continue;
        };
        if first < before {
            let key = first;
            return Some((
                part.number,
                Misplaced {
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

fn out_of_order(input: &Input, part: usize, misplaced: Misplaced) -> Fault {
    let Misplaced { row, before, key } = misplaced;
    let (key, before) = (key_text(key), key_text(before));
    Fault::Wrong {
        path: input.path(part).to_owned(),
        found: format!(
            "is out of order: row {row} (from 0) has the key {key}, the row before it {before}"
        ),
    }
}
