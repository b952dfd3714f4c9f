//! Merge of sorted runs with summed counts: passes that reduce the number of runs, and the parts of
//! the output.

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::atomic::AtomicUsize;

use crate::error::Halt;
use crate::file::{MAX_CALL_BYTES, buffer};
use crate::folder::OutputFolder;
use crate::meter::Meter;
use crate::phase_runner::WorkQueue;
use crate::wordcount::cursor::Cursor;
use crate::wordcount::job::CountJob;
use crate::wordcount::run::SpillFiles;
use crate::wordcount::run::{MAX_HEADER_BYTES, Run, RunWriter, push_long};
use crate::wordcount::table::WordEntry;
use crate::writer::Writer;

/// Minimum buffer, to limit the number of system calls.
pub const MIN_BUFFER_BYTES: usize = 4096;

/// Whether a single merge of the runs fits into `bytes`.
pub(crate) fn fit(runs: &[Run], bytes: usize) -> bool {
    runs.iter().map(least_bytes).sum::<usize>() + longest_word(runs) <= bytes
}

/// Split runs into groups that fit into memory, of at least two runs each.
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

/// Call `emit` with every word of a reducer in order, with the sum of its counts.
pub(crate) fn merge(
    runs: &[Run],
    reducer: usize,
    bytes: usize,
    meter: &mut Meter,
    mut emit: impl FnMut(&[u8], u64, &mut Meter) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let mut cursors = open(runs, reducer, bytes, meter)?;
    let mut word = Vec::with_capacity(longest_word(runs));
    let mut count = 0;
    while let Some(next) = cursors.peek_mut() {
        if count > 0 && next.word() != word {
            emit(&word, count, meter)?;
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
        emit(&word, count, meter)?;
    }
    Ok(())
}

/// Open a cursor at the first word of each non-empty run.
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
        let buffer_bytes = least_bytes(run).max(MAX_CALL_BYTES.min(least_bytes(run) + spare));
        let mut cursor = Cursor::new(run, reducer, buffer_bytes);
        if cursor.advance(meter)? {
            cursors.push(cursor);
        }
    }
    Ok(cursors)
}

/// Advance the first cursor; drop it at its end.
fn advance(mut first: PeekMut<Cursor>, meter: &mut Meter) -> Result<(), Halt> {
    if !first.advance(meter)? {
        PeekMut::pop(first);
    }
    Ok(())
}

fn least_bytes(run: &Run) -> usize {
    MIN_BUFFER_BYTES.max(run.longest_word + MAX_HEADER_BYTES)
}

fn longest_word(runs: &[Run]) -> usize {
    let lengths = runs.iter().map(|run| run.longest_word);
    lengths.max().unwrap_or(0)
}

/// Merge each group of runs into one run.
pub(crate) fn merge_groups(
    job: &CountJob,
    groups: &[&[Run]],
    queue: &WorkQueue,
    next_folder: &AtomicUsize,
    meter: &mut Meter,
) -> Result<Vec<Run>, Halt> {
    let mut spill_files = SpillFiles::create(job, next_folder)?;
    while let Some(group) = queue.next() {
        spill_files.write(meter, |run, meter| {
            merge_group(job, groups[group], run, meter)
        })?;
    }
    Ok(spill_files.into_runs())
}

fn merge_group(
    job: &CountJob,
    group: &[Run],
    run: &mut RunWriter,
    meter: &mut Meter,
) -> Result<(), Halt> {
    for reducer in 0..job.reducers {
        let bytes = job.thread_memory().merge_bytes();
        merge(group, reducer, bytes, meter, |word, count, meter| {
            let word = WordEntry {
                reducer,
                head: word,
                rest: &[],
                count,
            };
            run.push(&word, meter)
        })?;
    }
    Ok(())
}

/// Write parts until none is left.
pub(crate) fn write_parts(
    job: &CountJob,
    runs: &[Run],
    folder: &OutputFolder,
    queue: &WorkQueue,
    meter: &mut Meter,
) -> Result<(), Halt> {
    let memory = job.thread_memory();
    let mut outgoing = buffer(memory.buffer_bytes())?;
    while let Some(part) = queue.next() {
        let file = folder.part(part, false)?;
        let mut writer = Writer::new(&file, &mut outgoing, 0);
        merge(
            runs,
            part,
            memory.merge_bytes(),
            meter,
            |word, count, meter| write_line(&mut writer, word, count, meter),
        )?;
        writer.flush(meter)?;
        file.finish(job.fsync)?;
    }
    Ok(())
}

/// Write a line as `TextOutputFormat` does: word, tab, count.
fn write_line(writer: &mut Writer, word: &[u8], count: u64, meter: &mut Meter) -> Result<(), Halt> {
    push_long(writer, word, meter)?;
    writer.push(b"\t", meter)?;
    writer.push(itoa::Buffer::new().format(count).as_bytes(), meter)?;
    writer.push(b"\n", meter)
}
