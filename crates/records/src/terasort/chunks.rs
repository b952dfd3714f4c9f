//! The first phase: chunks of the input are sorted in memory and spilled as runs.

use iostudy_pattern::AlignedBuffer;

use super::input::Input;
use super::plan::Plan;
use super::row::{ROW_BYTES, key};
use crate::buffer::{buffer, room_for};
use crate::error::{Fault, Halt};
use crate::file::DataFile;
use crate::meter::Meter;
use crate::phases::Pieces;
use crate::sort::sort;
use crate::spill::SpillFolders;
use crate::writer::Writer;

/// The bits of a row's number within its chunk, below its key in an entry: equal keys keep their
/// order.
const NUMBER_BITS: u32 = u32::BITS;

/// A sorted chunk.
pub(crate) struct Run {
    pub(crate) file: DataFile,
    /// The row with which each range of keys begins, and at last the number of all rows.
    pub(crate) starts: Vec<u64>,
}

/// What all threads of the phase share.
pub(crate) struct Chunks<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) input: &'a Input,
    pub(crate) spill: SpillFolders<'a>,
    pub(crate) splits: &'a [u128],
    pub(crate) pieces: Pieces,
}

impl Chunks<'_> {
    /// Sort and spill chunks until there are no more: runs with the numbers of their chunks.
    pub(crate) fn work(&self, meter: &mut Meter) -> Result<Vec<(usize, Run)>, Halt> {
        let mut chunk = Chunk::new(self.plan)?;
        let mut runs = Vec::new();
        while let Some(number) = self.pieces.take() {
            let first = number as u64 * self.plan.chunk_rows;
            let rows = self.plan.chunk_rows.min(self.input.rows() - first);
            chunk.read(self.input, first, rows, meter)?;
            sort(
                &mut chunk.entries,
                |entry| *entry,
                u128::cmp,
                || meter.check_stop(),
            )?;
            let file = self.spill.create(number)?;
            chunk.write(&file, meter)?;
            let starts = chunk.starts(self.splits);
            runs.push((number, Run { file, starts }));
        }
        Ok(runs)
    }
}

/// The memory of a thread: rows as they were read, and for each an entry of its key and number,
/// which are sorted in their place.
struct Chunk {
    rows: AlignedBuffer,
    entries: Vec<u128>,
    calls: AlignedBuffer,
}

impl Chunk {
    fn new(plan: &Plan) -> Result<Self, Fault> {
        let rows = usize::try_from(plan.chunk_rows).expect("chunks fit into memory");
        Ok(Self {
            rows: buffer(rows * ROW_BYTES)?,
            entries: room_for(rows)?,
            calls: buffer(plan.chunk_buffer_bytes)?,
        })
    }

    fn read(
        &mut self,
        input: &Input,
        first: u64,
        rows: u64,
        meter: &mut Meter,
    ) -> Result<(), Halt> {
        let mut places = self.rows.chunks_exact_mut(ROW_BYTES);
        let entries = &mut self.entries;
        entries.clear();
        input.each_row(first, rows, &mut self.calls, meter, |row| {
            let place = places.next().expect("a chunk is as large as planned");
            place.copy_from_slice(row);
            entries.push(key(row) << NUMBER_BITS | entries.len() as u128);
        })
    }

    fn write(&mut self, file: &DataFile, meter: &mut Meter) -> Result<(), Halt> {
        let mut writer = Writer::new(file, &mut self.calls, 0);
        for entry in &self.entries {
            let at = number(*entry) * ROW_BYTES;
            writer.push(&self.rows[at..at + ROW_BYTES], meter)?;
        }
        writer.flush(meter)
    }

    fn starts(&self, splits: &[u128]) -> Vec<u64> {
        let before = |split: &u128| {
            self.entries
                .partition_point(|entry| entry >> NUMBER_BITS < *split)
        };
        let starts = splits.iter().map(before);
        let all = [0].into_iter().chain(starts).chain([self.entries.len()]);
        all.map(|row| row as u64).collect()
    }
}

#[inline]
fn number(entry: u128) -> usize {
    (entry & ((1 << NUMBER_BITS) - 1)) as usize
}
