//! Split points of balanced key ranges, from a sample.

use std::ops::Range;

use super::input::Input;
use super::row::key;
use crate::error::Halt;
use crate::file::{MAX_CALL_BYTES, buffer};
use crate::meter::Meter;

/// Sample size, as `TeraSort`'s mapreduce.terasort.partitions.sample.
const SAMPLE_ROWS: u64 = 100_000;

/// Number of sample positions, spread evenly, so that sorted input is split well too.
const PLACES: u64 = 100;

/// Smallest key of every range except the first, ascending.
pub(crate) fn split_points(
    input: &Input,
    ranges: usize,
    meter: &mut Meter,
) -> Result<Vec<u128>, Halt> {
    if ranges == 1 {
        return Ok(Vec::new());
    }
    let keys = sample(input, meter)?;
    let at = |range| keys[keys.len() * range / ranges];
    Ok((1..ranges).map(at).collect())
}

/// Rows that the sample reads, place by place.
pub fn sampled_rows(rows: u64) -> impl Iterator<Item = Range<u64>> {
    (0..PLACES).map(move |place| {
        let first = at_place(rows, place);
        let wanted = (at_place(rows, place + 1) - first).min(SAMPLE_ROWS / PLACES);
        first..first + wanted
    })
}

fn sample(input: &Input, meter: &mut Meter) -> Result<Vec<u128>, Halt> {
    let mut incoming = buffer(MAX_CALL_BYTES)?;
    let mut keys = Vec::new();
    for rows in sampled_rows(input.rows()) {
        let wanted = rows.end - rows.start;
        input.each_row(rows.start, wanted, &mut incoming, meter, |row| {
            keys.push(key(row));
        })?;
    }
    keys.sort_unstable();
    Ok(keys)
}

fn at_place(rows: u64, place: u64) -> u64 {
    let first = u128::from(rows) * u128::from(place) / u128::from(PLACES);
    u64::try_from(first).expect("at most all rows")
}
