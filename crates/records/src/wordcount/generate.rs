//! Text files made by several threads, block by block.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use thiserror::Error;

use crate::error::{Error, Halt};
use crate::file::DataFile;
use crate::folder::OutputFolder;
use crate::meter::Meter;
use crate::phases::Phases;
use crate::wordcount::tally::Tally;
use crate::wordcount::text::Writer;
use crate::wordcount::zipf::Zipf;

/// Each block is a text of its own, so that the threads need not wait for each other.
const BLOCK_BYTES: usize = 1 << 20;

/// Text to be made: lines of up to 100 bytes, of words drawn from a vocabulary by Zipf's law.
#[derive(Debug, Clone, PartialEq)]
pub struct TextJob {
    /// The folder that is made, with the files `part-m-00000` and so on.
    pub folder: PathBuf,
    /// Of all files together.
    pub bytes: u64,
    /// Into how many files it is divided.
    pub files: u32,
    /// How many different words there are to draw from.
    pub vocabulary: u64,
    /// The word of rank r is drawn in proportion to 1 / r^exponent.
    pub exponent: f64,
    /// What the words are drawn with.
    pub seed: u64,
    /// How many threads make it.
    pub threads: usize,
}

/// Why a text cannot be made as asked.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum InvalidText {
    /// A number of zero.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// Which one.
        name: &'static str,
    },
    /// An exponent that Zipf's law has not.
    #[error("exponent is {0}; it must be a number of at least 0")]
    Exponent(f64),
}

impl TextJob {
    /// Check that the job can work at all; nothing is touched.
    ///
    /// # Errors
    ///
    /// The first reason why it cannot.
    pub fn validate(&self) -> Result<(), InvalidText> {
        let numbers = [
            ("bytes", self.bytes),
            ("files", self.files.into()),
            ("vocabulary", self.vocabulary),
            ("threads", self.threads as u64),
        ];
        if let Some((name, _)) = numbers.into_iter().find(|(_, number)| *number == 0) {
            return Err(InvalidText::Zero { name });
        }
        self.zipf().map(|_| ())
    }

    fn zipf(&self) -> Result<Zipf, InvalidText> {
        let zipf = Zipf::new(self.vocabulary, self.exponent);
        zipf.ok_or(InvalidText::Exponent(self.exponent))
    }

    /// The size of each file; they differ by a byte at most.
    fn file_bytes(&self, file: u64) -> u64 {
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

/// A part of a file.
struct Block {
    file: usize,
    offset: u64,
    bytes: usize,
}

/// Make the text; the tally of its words. `tick` is called about every 50 ms on the calling thread
/// with the bytes written so far; once it says no, the threads stop.
///
/// # Errors
///
/// The first error of any thread; nothing is left behind. The folder must not be there yet.
///
/// # Panics
///
/// If the job is not valid; see [`TextJob::validate`].
pub fn generate(job: &TextJob, tick: impl FnMut(u64) -> bool) -> Result<Tally, Error> {
    let zipf = job.zipf().expect("a job is validated before it is run");
    let folder = OutputFolder::create(&job.folder, "part-m-").map_err(Error::Fault)?;
    let files = (0..job.files as usize).map(|file| folder.part(file, false));
    let files: Vec<DataFile> = files.collect::<Result<_, _>>().map_err(Error::Fault)?;
    let blocks = Mutex::new(job.blocks());
    let next = || blocks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let mut phases = Phases::new(tick);
    let tallies = phases.run(job.threads, |meter| {
        write_blocks(job.seed, &zipf, &files, next, meter)
    })?;
    for file in files {
        file.finish(false).map_err(Error::Fault)?;
    }
    folder
        .commit(job.files as usize, false)
        .map_err(Error::Fault)?;
    Ok(tallies.into_iter().sum())
}

/// Write one block after the other as long as there is a next one.
fn write_blocks(
    seed: u64,
    zipf: &Zipf,
    files: &[DataFile],
    next: impl Fn() -> Option<Block>,
    meter: &mut Meter,
) -> Result<Tally, Halt> {
    let mut text = Vec::new();
    let mut tally = Tally::default();
    while let Some(block) = next() {
        text.resize(block.bytes, 0);
        let writer = Writer::new(zipf, seed, block.file as u64, block.offset);
        tally = tally + writer.fill(&mut text);
        let file = &files[block.file];
        meter.write(text.len(), || file.write_at(&text, block.offset))?;
    }
    Ok(tally)
}
