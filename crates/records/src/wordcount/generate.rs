//! Parallel generation of text files.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use thiserror::Error;

use crate::error::{Error, Halt};
use crate::file::DataFile;
use crate::folder::{MAP_PART, OutputFolder};
use crate::meter::Meter;
use crate::phase_runner::PhaseRunner;
use crate::wordcount::statistics::TextStatistics;
use crate::wordcount::text::Writer;
use crate::wordcount::word::WordSummary;
use crate::wordcount::zipf::Zipf;

/// Blocks are independent texts, so that threads need no coordination.
const BLOCK_BYTES: usize = 1 << 20;

/// Text generation job: lines of up to 100 bytes with Zipf-distributed words.
#[derive(Debug, Clone, PartialEq)]
pub struct TextJob {
    /// Output folder with files `part-m-00000` and so on.
    pub folder: PathBuf,
    /// Total size of all files in bytes.
    pub bytes: u64,
    /// Number of files.
    pub files: u32,
    /// Vocabulary size.
    pub vocabulary: u64,
    /// Zipf exponent: the frequency of rank r is proportional to 1 / r^exponent.
    pub exponent: f64,
    /// Random seed.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
}

/// Reasons why a text job is invalid.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum InvalidTextJob {
    /// A number is zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Name of the option.
        name: &'static str,
    },
    /// The exponent is negative or not a number.
    #[error("exponent is {0}; it must be a number of at least 0")]
    Exponent(f64),
}

impl TextJob {
    /// Check the job without touching any file.
    ///
    /// # Errors
    ///
    /// The first reason why the job is invalid.
    pub fn validate(&self) -> Result<(), InvalidTextJob> {
        let numbers = [
            ("bytes", self.bytes),
            ("files", self.files.into()),
            ("vocabulary", self.vocabulary),
            ("threads", self.threads as u64),
        ];
        if let Some((name, _)) = numbers.into_iter().find(|(_, number)| *number == 0) {
            return Err(InvalidTextJob::Zero { name });
        }
        self.zipf().map(|_| ())
    }

    /// Expected numbers of its words.
    ///
    /// # Errors
    ///
    /// The exponent is invalid.
    pub fn statistics(&self) -> Result<TextStatistics, InvalidTextJob> {
        self.zipf()?;
        Ok(TextStatistics::new(self.vocabulary, self.exponent))
    }

    fn zipf(&self) -> Result<Zipf, InvalidTextJob> {
        let zipf = Zipf::new(self.vocabulary, self.exponent);
        zipf.ok_or(InvalidTextJob::Exponent(self.exponent))
    }

    /// Size of a file; sizes differ by at most one byte.
    pub fn file_bytes(&self, file: u64) -> u64 {
        let files = u64::from(self.files);
        self.bytes / files + u64::from(file < self.bytes % files)
    }

    fn blocks(&self) -> impl Iterator<Item = Block> + use<'_> {
        (0..self.files).flat_map(|file| {
            let file_bytes = self.file_bytes(file.into());
            (0..file_bytes)
                .step_by(BLOCK_BYTES)
                .map(move |offset| Block {
                    file: file as usize,
                    offset,
                    bytes: usize::try_from(file_bytes - offset)
                        .map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES)),
                })
        })
    }
}

/// Block of a file.
struct Block {
    file: usize,
    offset: u64,
    bytes: usize,
}

/// Generate the text and return the summary of its words. `tick` is called about every 50 ms on the
/// calling thread with the bytes written so far. When it returns false, the threads stop.
///
/// # Errors
///
/// The first error of any thread; then all files are removed. The folder must not exist.
///
/// # Panics
///
/// If the job is not valid; see [`TextJob::validate`].
pub fn generate(job: &TextJob, tick: &mut dyn FnMut(u64) -> bool) -> Result<WordSummary, Error> {
    let zipf = job.zipf().expect("the job must be valid");
    let folder = OutputFolder::create(&job.folder, MAP_PART).map_err(Error::Fault)?;
    let files = (0..job.files as usize).map(|file| folder.part(file, false));
    let files: Vec<DataFile> = files.collect::<Result<_, _>>().map_err(Error::Fault)?;
    let blocks = Mutex::new(job.blocks());
    let next = || blocks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let mut phases = PhaseRunner::new(tick);
    let summaries = phases.run(job.threads, |meter| {
        write_blocks(job.seed, &zipf, &files, next, meter)
    })?;
    for file in files {
        file.finish(false).map_err(Error::Fault)?;
    }
    folder
        .commit(job.files as usize, false)
        .map_err(Error::Fault)?;
    Ok(summaries.into_iter().sum())
}

/// Write blocks until none is left.
fn write_blocks(
    seed: u64,
    zipf: &Zipf,
    files: &[DataFile],
    next: impl Fn() -> Option<Block>,
    meter: &mut Meter,
) -> Result<WordSummary, Halt> {
    let mut text = Vec::new();
    let mut summary = WordSummary::default();
    while let Some(block) = next() {
        text.resize(block.bytes, 0);
        let writer = Writer::new(zipf, seed, block.file as u64, block.offset);
        summary = summary + writer.fill(&mut text);
        let file = &files[block.file];
        meter.write(text.len(), || file.write_at(&text, block.offset))?;
    }
    Ok(summary)
}
