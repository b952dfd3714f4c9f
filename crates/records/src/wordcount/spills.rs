//! The spill files of one thread: one in each folder, to which its runs are appended in turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use iostudy_pattern::AlignedBuffer;

use crate::buffer::buffer;
use crate::error::{Fault, Halt};
use crate::file::DataFile;
use crate::meter::Meter;
use crate::spill::SpillFolders;
use crate::wordcount::job::CountJob;
use crate::wordcount::memory::Share;
use crate::wordcount::run::{Run, RunWriter};

/// However many runs there are, a thread has one open file per folder.
pub(crate) struct Spills<'a> {
    files: Vec<(Arc<DataFile>, u64)>,
    /// How many runs all threads have written: they go to the folders in turn.
    turn: &'a AtomicUsize,
    reducers: usize,
    buffer: AlignedBuffer,
    runs: Vec<Run>,
}

impl<'a> Spills<'a> {
    /// Files for a thread, and a buffer to write them through.
    pub(crate) fn create(job: &CountJob, turn: &'a AtomicUsize) -> Result<Self, Fault> {
        let folders = SpillFolders::new(&job.spill, false);
        let make = |folder| folders.create(folder).map(|file| (Arc::new(file), 0));
        Ok(Self {
            files: (0..job.spill.len()).map(make).collect::<Result<_, _>>()?,
            turn,
            reducers: job.reducers,
            buffer: buffer(Share::of(job).buffer_bytes())?,
            runs: Vec::new(),
        })
    }

    /// Write a run: whatever `fill` pushes.
    pub(crate) fn write(
        &mut self,
        meter: &mut Meter,
        fill: impl FnOnce(&mut RunWriter, &mut Meter) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let folder = self.turn.fetch_add(1, Ordering::Relaxed) % self.files.len();
        let (spill, end) = &mut self.files[folder];
        let mut writer = RunWriter::new(spill, &mut self.buffer, *end);
        fill(&mut writer, meter)?;
        let run = writer.finish(spill, self.reducers, meter)?;
        *end += run.bytes();
        self.runs.push(run);
        Ok(())
    }

    /// What has been written.
    pub(crate) fn into_runs(self) -> Vec<Run> {
        self.runs
    }
}
