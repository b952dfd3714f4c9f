//! Runs merged: every word once, with the sum of its counts.

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::buffer::LARGEST_CALL_BYTES;
use crate::error::Halt;
use crate::meter::Meter;
use crate::wordcount::cursor::Cursor;
use crate::wordcount::run::{MOST_HEADER_BYTES, Run};

/// Less would be a system call for a handful of words.
const LEAST_BUFFER: usize = 4096;

/// Whether runs can be merged at once within so many bytes.
pub(crate) fn fit(runs: &[Run], bytes: usize) -> bool {
    runs.iter().map(least_bytes).sum::<usize>() + longest_word(runs) <= bytes
}

/// Runs in groups that can be merged at once: of two at least, as words are limited.
pub(crate) fn groups(mut runs: &[Run], bytes: usize) -> Vec<&[Run]> {
    let mut all = Vec::new();
    while !runs.is_empty() {
        let mut group = runs.len();
        while group > 2 && !fit(&runs[..group], bytes) {
            group = group.div_ceil(2);
        }
        let (first, rest) = runs.split_at(group);
        all.push(first);
        runs = rest;
    }
    all
}

/// Give every word of a reducer in order, with the sum of its counts.
pub(crate) fn merge(
    runs: &[Run],
    reducer: usize,
    bytes: usize,
    meter: &mut Meter,
    mut give: impl FnMut(&[u8], u64, &mut Meter) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let mut cursors = open(runs, reducer, bytes, meter)?;
    let mut word = Vec::with_capacity(longest_word(runs));
    let mut count = 0;
    while let Some(next) = cursors.peek_mut() {
        if count > 0 && next.word() != word {
            give(&word, count, meter)?;
            count = 0;
        }
        if count == 0 {
            word.clear();
            word.extend_from_slice(next.word());
        }
        count += next.count();
        advance(next, meter)?;
    }
    if count > 0 {
        give(&word, count, meter)?;
    }
    Ok(())
}

/// A cursor at the first word of each run that has one.
fn open(
    runs: &[Run],
    reducer: usize,
    bytes: usize,
    meter: &mut Meter,
) -> Result<BinaryHeap<Cursor>, Halt> {
    let needed = runs.iter().map(least_bytes).sum::<usize>() + longest_word(runs);
    let spare = bytes.saturating_sub(needed) / runs.len().max(1);
    let mut cursors = BinaryHeap::with_capacity(runs.len());
    for run in runs {
        let buffer_bytes = least_bytes(run).max(LARGEST_CALL_BYTES.min(least_bytes(run) + spare));
        let mut cursor = Cursor::new(run, reducer, buffer_bytes);
        if cursor.advance(meter)? {
            cursors.push(cursor);
        }
    }
    Ok(cursors)
}

/// Go on from the first cursor's word; drop the cursor at its end.
fn advance(mut first: PeekMut<Cursor>, meter: &mut Meter) -> Result<(), Halt> {
    if !first.advance(meter)? {
        PeekMut::pop(first);
    }
    Ok(())
}

fn least_bytes(run: &Run) -> usize {
    LEAST_BUFFER.max(run.longest_word + MOST_HEADER_BYTES)
}

fn longest_word(runs: &[Run]) -> usize {
    let lengths = runs.iter().map(|run| run.longest_word);
    lengths.max().unwrap_or(0)
}
