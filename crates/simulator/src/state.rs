//! State of a simulation, and what all its parts do with it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::ops::Range;

use iostudy_drive::Parameters;
use iostudy_pattern::{Record, nth};
use iostudy_schedulers::{Nanos, SchedulerBuilder, Settings};

use crate::figures::{JobFigures, StoppedRound, ThreadFigures};
use crate::host::{Host, PAGE_BYTES, PAGE_SECTORS};
use crate::journal::{CommitStep, Journal};
use crate::page_cache::PageCache;
use crate::thread::{Job, Operation, Thread};
use crate::volume::{Volume, VolumeLayout};

/// Time at which a simulation begins: some schedulers compute times before now.
pub const START: Nanos = 100_000_000_000;
/// Largest deviation of a processor time from its nominal value, in permille.
const JITTER_PERMILLE: u64 = 100;

/// A file: one extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// First sector.
    pub start: u64,
    /// Size in pages.
    pub pages: u64,
    /// File of the journal that its changes go through.
    pub journal: Option<usize>,
}

/// What a simulation runs.
pub struct Experiment {
    /// The scheduler.
    pub scheduler: SchedulerBuilder,
    /// Properties of the request queue. Its depth is at most that of the drive.
    pub settings: Settings,
    /// Names and texts of tunables that differ from their defaults.
    pub tunables: Vec<(String, String)>,
    /// The drive, or each drive of a volume.
    pub drive: Parameters,
    /// The last drive of a volume, if it differs from the others.
    pub last: Option<Parameters>,
    /// The volume over such drives.
    pub layout: VolumeLayout,
    /// The host.
    pub host: Host,
    /// The files.
    pub files: Vec<File>,
    /// The jobs, which begin at the same time.
    pub jobs: Vec<Job>,
    /// Seed of the deviations of processor times.
    pub seed: u64,
}

/// State of the flusher.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flusher {
    /// File that is written.
    pub(crate) file: usize,
    /// Pages of it that are left of the chunk.
    pub(crate) left: u64,
    /// Whether pages older than the limit wait.
    pub(crate) expired: bool,
}

/// A job under way.
#[derive(Debug)]
pub(crate) struct JobRun {
    /// Start of the round.
    pub(crate) began: Nanos,
    pub(crate) threads: Range<usize>,
    pub(crate) lanes: Range<usize>,
    /// Lanes of the round that have not ended.
    pub(crate) running: usize,
    /// Lanes that wait for the others.
    pub(crate) parked: Vec<usize>,
    pub(crate) figures: JobFigures,
}

impl JobRun {
    /// The figures at the end of the simulation, with those of all threads.
    pub(crate) fn finish(self, threads: &[ThreadFigures]) -> JobFigures {
        let moved = threads[self.threads].iter().map(|thread| thread.moved);
        let stopped = StoppedRound {
            began: self.began - START,
            moved: moved.sum(),
        };
        JobFigures {
            stopped: (self.running > 0).then_some(stopped),
            ..self.figures
        }
    }
}

/// Stage of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its pieces are moved.
    Pieces,
    /// Its bios or its write-back are awaited.
    Awaiting,
    /// It leads a commit.
    Committing(CommitStep),
    /// The flush of the drive is awaited, or the end of a commit.
    Ending,
}

/// An operation under way.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) operation: Operation,
    pub(crate) begun: Nanos,
    pub(crate) stage: Stage,
    /// Index of the current piece.
    pub(crate) piece: usize,
    /// First page of the current piece that was not moved yet.
    pub(crate) page: Option<u64>,
    /// Bios that have not completed.
    pub(crate) bios: u32,
}

impl Running {
    /// Pages of all pieces.
    pub(crate) fn pages(&self) -> Vec<Range<u64>> {
        self.operation
            .pieces
            .iter()
            .copied()
            .map(pages_of)
            .collect()
    }
}

/// One of a thread's outstanding operations.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// Its job.
    pub(crate) job: usize,
    /// Its thread.
    pub(crate) thread: usize,
    pub(crate) running: Option<Running>,
}

impl Lane {
    pub(crate) const fn new(job: usize, thread: usize) -> Self {
        Self {
            job,
            thread,
            running: None,
        }
    }
}

pub(crate) const fn pages_of(piece: Record) -> Range<u64> {
    let end = piece.offset + piece.len as u64;
    piece.offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES)
}

pub(crate) struct Simulation<'a> {
    pub(crate) experiment: &'a mut Experiment,
    pub(crate) device: Volume,
    pub(crate) cache: PageCache,
    pub(crate) flusher: Flusher,
    /// Journals by the file of metadata.
    pub(crate) journals: BTreeMap<usize, Journal>,
    pub(crate) now: Nanos,
    pub(crate) jobs: Vec<JobRun>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) lanes: Vec<Lane>,
    /// Jobs that do not repeat and have not ended.
    pub(crate) running: usize,
    /// Lanes that wait until fewer pages are dirty.
    pub(crate) throttled: VecDeque<usize>,
    pub(crate) figures: Vec<ThreadFigures>,
    /// Times at which lanes continue, in order of their planning at equal times.
    pub(crate) wake_ups: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    pub(crate) next_check: Nanos,
    pub(crate) planned: u64,
    pub(crate) events: u64,
}

fn journals(files: &[File]) -> BTreeMap<usize, Journal> {
    let journal = |(index, file): (usize, &File)| {
        let journal = file.journal?;
        Some((index, Journal::new(journal, files[journal].pages)))
    };
    files.iter().enumerate().filter_map(journal).collect()
}

impl<'a> Simulation<'a> {
    pub(crate) fn new(experiment: &'a mut Experiment, device: Volume) -> Self {
        Self {
            device,
            cache: PageCache::new(experiment.files.len()),
            flusher: Flusher::default(),
            journals: journals(&experiment.files),
            now: START,
            jobs: Vec::new(),
            threads: Vec::new(),
            lanes: Vec::new(),
            running: 0,
            throttled: VecDeque::new(),
            figures: Vec::new(),
            wake_ups: BinaryHeap::new(),
            next_check: START + experiment.host.dirty_writeback,
            planned: 0,
            events: 0,
            experiment,
        }
    }

    /// Let a lane continue after `delay`.
    pub(crate) fn wake(&mut self, lane: usize, delay: Nanos) {
        self.planned += 1;
        self.wake_ups
            .push(Reverse((self.now + delay, self.planned, lane)));
    }

    /// Time from the start.
    pub(crate) const fn elapsed(&self) -> Nanos {
        self.now - START
    }

    /// A processor time near `nominal`.
    pub(crate) fn vary(&mut self, nominal: Nanos) -> Nanos {
        self.planned += 1;
        let draw = nth(self.experiment.seed, self.planned) % (2 * JITTER_PERMILLE + 1);
        nominal * (1000 - JITTER_PERMILLE + draw) / 1000
    }

    /// First sector and number of sectors of pages.
    pub(crate) fn sectors_of(&self, file: usize, pages: &Range<u64>) -> (u64, u32) {
        let sectors = (pages.end - pages.start) * PAGE_SECTORS;
        let start = self.experiment.files[file].start + pages.start * PAGE_SECTORS;
        (
            start,
            u32::try_from(sectors).expect("a request is below 2 TiB"),
        )
    }

    /// Let writers continue if few enough pages are dirty.
    pub(crate) fn wake_throttled(&mut self) {
        if self.cache.unwritten() < self.experiment.host.dirty_pages() {
            for lane in std::mem::take(&mut self.throttled) {
                self.wake(lane, 0);
            }
        }
    }
}
