//! Spill files of one thread, one per folder, filled in turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use iostudy_pattern::AlignedBuffer;

use crate::buffer::buffer;
use crate::error::{Fault, Halt};
use crate::file::DataFile;
use crate::meter::Meter;
use crate::spill_folders::SpillFolders;
use crate::wordcount::job::CountJob;
use crate::wordcount::run::{Run, RunWriter};

/// Spill files of a thread: one open file per folder for any number of runs.
pub(crate) struct SpillFiles<'a> {
    files: Vec<(Arc<DataFile>, u64)>,
    /// Number of runs of all threads, which selects the next folder.
    next_folder: &'a AtomicUsize,
    reducers: usize,
    buffer: AlignedBuffer,
    runs: Vec<Run>,
}

impl<'a> SpillFiles<'a> {
    /// Create the files and the write buffer of a thread.
    pub(crate) fn create(job: &CountJob, next_folder: &'a AtomicUsize) -> Result<Self, Fault> {
        let folders = SpillFolders::new(&job.spill, false);
        let make = |folder| folders.create(folder).map(|file| (Arc::new(file), 0));
        Ok(Self {
            files: (0..job.spill.len()).map(make).collect::<Result<_, _>>()?,
            next_folder,
            reducers: job.reducers,
            buffer: buffer(job.thread_memory().buffer_bytes())?,
            runs: Vec::new(),
        })
    }

    /// Write a run with the words that `fill` pushes.
    pub(crate) fn write(
        &mut self,
        meter: &mut Meter,
        fill: impl FnOnce(&mut RunWriter, &mut Meter) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let folder = self.next_folder.fetch_add(1, Ordering::Relaxed) % self.files.len();
        let (spill, end) = &mut self.files[folder];
        let mut writer = RunWriter::new(spill, &mut self.buffer, *end);
        fill(&mut writer, meter)?;
        let run = writer.finish(spill, self.reducers, meter)?;
        *end += run.bytes();
        self.runs.push(run);
        Ok(())
    }

    /// Return the written runs.
    pub(crate) fn into_runs(self) -> Vec<Run> {
        self.runs
    }
}
