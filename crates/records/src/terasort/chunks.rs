//! Spill phase: sort chunks of the input in memory.

use iostudy_pattern::AlignedBuffer;

use super::input::Input;
use super::plan::Plan;
use super::row::{ROW_BYTES, key};
use crate::error::{Fault, Halt};
use crate::file::DataFile;
use crate::file::{buffer, reserve};
use crate::meter::Meter;
use crate::phase_runner::WorkQueue;
use crate::sort::sort;
use crate::spill_folders::SpillFolders;
use crate::writer::Writer;

/// Bits of a row's number below its key in an entry: they keep the sort stable.
const NUMBER_BITS: u32 = u32::BITS;

/// Sorted run of one chunk.
pub(crate) struct Run {
    pub(crate) file: DataFile,
    /// First row of each key range, and the number of all rows.
    pub(crate) starts: Vec<u64>,
}

/// Shared state of the phase.
pub(crate) struct Chunks<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) input: &'a Input,
    pub(crate) spill: SpillFolders<'a>,
    pub(crate) splits: &'a [u128],
    pub(crate) queue: WorkQueue,
}

impl Chunks<'_> {
    /// Sort and spill chunks until none is left. Return the runs with their chunk numbers.
    pub(crate) fn work(&self, meter: &mut Meter) -> Result<Vec<(usize, Run)>, Halt> {
        let mut chunk = Chunk::new(self.plan)?;
        let mut runs = Vec::new();
        while let Some(number) = self.queue.next() {
            let rows = self.plan.chunk(number, self.input.rows());
            chunk.read(self.input, rows.start, rows.end - rows.start, meter)?;
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

/// Memory of a thread: rows in input order, and an entry of key and number per row that is sorted
/// in place.
struct Chunk {
    rows: AlignedBuffer,
    entries: Vec<u128>,
    call_buffer: AlignedBuffer,
}

impl Chunk {
    fn new(plan: &Plan) -> Result<Self, Fault> {
        let rows = usize::try_from(plan.chunk_rows).expect("chunks fit into memory");
        Ok(Self {
            rows: buffer(rows * ROW_BYTES)?,
            entries: reserve(rows)?,
            call_buffer: buffer(plan.chunk_buffer_bytes)?,
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
        input.each_row(first, rows, &mut self.call_buffer, meter, |row| {
            let place = places.next().expect("a chunk is as large as planned");
            place.copy_from_slice(row);
            entries.push(key(row) << NUMBER_BITS | entries.len() as u128);
        })
    }

    fn write(&mut self, file: &DataFile, meter: &mut Meter) -> Result<(), Halt> {
        let mut writer = Writer::new(file, &mut self.call_buffer, 0);
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
