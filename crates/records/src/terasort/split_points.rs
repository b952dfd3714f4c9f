//! Split points of balanced key ranges, from a sample.

use super::input::Input;
use super::row::key;
use crate::buffer::{MAX_CALL_BYTES, buffer};
use crate::error::Halt;
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

fn sample(input: &Input, meter: &mut Meter) -> Result<Vec<u128>, Halt> {
    let mut incoming = buffer(MAX_CALL_BYTES)?;
    let mut keys = Vec::new();
    let rows = input.rows();
    for place in 0..PLACES {
        let first = at_place(rows, place);
        let wanted = (at_place(rows, place + 1) - first).min(SAMPLE_ROWS / PLACES);
        input.each_row(first, wanted, &mut incoming, meter, |row| {
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
