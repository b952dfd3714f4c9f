//! Merge phase: merge the runs by key range into the parts.

use super::chunks::Run;
use super::plan::Plan;
use super::row::{Checksum, ROW, ROW_BYTES, key};
use crate::error::Halt;
use crate::file::buffer;
use crate::folder::OutputFolder;
use crate::loser_tree::LoserTree;
use crate::meter::Meter;
use crate::phase_runner::WorkQueue;
use crate::reader::Reader;
use crate::writer::Writer;

/// Bits of a run's number below the key of its row: they keep the merge stable.
const RUN_BITS: u32 = 32;

/// Sentinel after every key.
const EXHAUSTED: u128 = u128::MAX;

/// Shared state of the phase.
pub(crate) struct Merge<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) runs: &'a [Run],
    pub(crate) output: &'a OutputFolder<'a>,
    pub(crate) reducers: usize,
    pub(crate) queue: WorkQueue,
    pub(crate) direct: bool,
    pub(crate) fsync: bool,
}

impl Merge<'_> {
    /// Merge ranges until none is left. Return the checksum of the written rows.
    pub(crate) fn work(&self, meter: &mut Meter) -> Result<Checksum, Halt> {
        let each = self.plan.merge_buffer_bytes;
        let mut memory = buffer(each * (self.runs.len() + 1))?;
        let (outgoing, incoming) = memory.split_at_mut(each);
        let mut checksum = Checksum::default();
        while let Some(piece) = self.queue.next() {
            let (first, range) = self.plan.ranges_of(piece, self.reducers);
            let file = self.output.part(piece % self.reducers, self.direct)?;
            let mut writer = Writer::new(&file, outgoing, self.rows_before(first, range) * ROW);
            let readers = self.readers(range, incoming);
            checksum = checksum + merge(readers, &mut writer, meter)?;
            writer.flush(meter)?;
            file.finish(self.fsync)?;
        }
        Ok(checksum)
    }

    /// Number of rows in earlier ranges of the part that begins with range `first`.
    fn rows_before(&self, first: usize, range: usize) -> u64 {
        let rows = |run: &Run| run.starts[range] - run.starts[first];
        self.runs.iter().map(rows).sum()
    }

    fn readers<'b>(&'b self, range: usize, memory: &'b mut [u8]) -> Vec<Reader<'b>> {
        let buffers = memory.chunks_exact_mut(self.plan.merge_buffer_bytes);
        let reader = |(run, buffer): (&'b Run, &'b mut [u8])| {
            let (start, end) = (run.starts[range], run.starts[range + 1]);
            Reader::new(&run.file, buffer, start * ROW, end * ROW)
        };
        self.runs.iter().zip(buffers).map(reader).collect()
    }
}

fn merge(
    mut readers: Vec<Reader>,
    writer: &mut Writer,
    meter: &mut Meter,
) -> Result<Checksum, Halt> {
    let mut checksum = Checksum::default();
    let entrants: Result<Vec<u128>, Halt> = readers
        .iter_mut()
        .enumerate()
        .map(|(run, reader)| entrant(reader, run, meter))
        .collect();
    let mut tree = LoserTree::new(&entrants?);
    while *tree.winner() != EXHAUSTED {
        let run = (tree.winner() & ((1 << RUN_BITS) - 1)) as usize;
        let reader = &mut readers[run];
        let row = &reader.window()[..ROW_BYTES];
        checksum.add_row(row);
        writer.push(row, meter)?;
        reader.consume(ROW_BYTES);
        tree.replace_winner(run, entrant(reader, run, meter)?);
    }
    Ok(checksum)
}

/// Entrant of the next row of a run.
#[inline]
fn entrant(reader: &mut Reader, run: usize, meter: &mut Meter) -> Result<u128, Halt> {
    if reader.window().len() < ROW_BYTES {
        reader.fill(meter)?;
        if reader.window().is_empty() {
            return Ok(EXHAUSTED);
        }
    }
    Ok(key(reader.window()) << RUN_BITS | run as u128)
}
