//! The closed loop of threads, page cache and device.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::ops::Range;

use iostudy_drive::Parameters;
use iostudy_pattern::nth;
use iostudy_schedulers::{Nanos, SchedulerBuilder, Settings};

use crate::device::{Completed, Purpose, SimulationError};
use crate::figures::{Figures, ThreadFigures};
use crate::flusher::Flusher;
use crate::host::{Host, PAGE_SECTORS};
use crate::job_run::JobRun;
use crate::journal::Journal;
use crate::lane::Lane;
use crate::page_cache::PageCache;
use crate::thread::{Job, Thread};
use crate::volume::{Volume, VolumeLayout};

/// Time at which a simulation begins: some schedulers compute times before now.
pub const START: Nanos = 100_000_000_000;
/// Events between two calls of the caller's tick.
const EVENTS_PER_TICK: u64 = 10_000;
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

impl Experiment {
    /// Run the simulation until all jobs that do not repeat have ended.
    ///
    /// `tick` gets the number of events now and then, and returns false to stop.
    ///
    /// # Errors
    ///
    /// A [`SimulationError`].
    pub fn run(&mut self, tick: &mut dyn FnMut(u64) -> bool) -> Result<Figures, SimulationError> {
        let (layout, settings) = (self.layout, self.settings);
        let mut device = Volume::new(layout, settings, START, self.scheduler, &self.drive);
        for (name, text) in &self.tunables {
            device.write_tunable(name, text)?;
        }
        let mut simulation = Simulation::new(self, device);
        while simulation.running > 0 {
            if simulation.events % EVENTS_PER_TICK == 0 && !tick(simulation.events) {
                return Err(SimulationError::Stopped);
            }
            simulation.step()?;
        }
        Ok(simulation.finish())
    }
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
    wake_ups: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    next_check: Nanos,
    planned: u64,
    events: u64,
}

fn journals(files: &[File]) -> BTreeMap<usize, Journal> {
    let journal = |(index, file): (usize, &File)| {
        let journal = file.journal?;
        Some((index, Journal::new(journal, files[journal].pages)))
    };
    files.iter().enumerate().filter_map(journal).collect()
}

impl<'a> Simulation<'a> {
    fn new(experiment: &'a mut Experiment, device: Volume) -> Self {
        let mut simulation = Self {
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
        };
        for job in 0..simulation.experiment.jobs.len() {
            simulation.start_job(job);
        }
        simulation
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

    /// Completions, wake-ups, write-back, timers and dispatches of the next instant.
    fn step(&mut self) -> Result<(), SimulationError> {
        let time = self.next_event()?;
        self.device.advance(time);
        self.now = time;
        self.complete();
        self.device.submit_waiting();
        while let Some(&Reverse((at, _, lane))) = self.wake_ups.peek()
            && at <= time
        {
            self.wake_ups.pop();
            self.advance(lane);
        }
        if time >= self.next_check {
            self.next_check += self.experiment.host.dirty_writeback;
            self.look_for_old_pages();
        }
        self.flush();
        self.device.dispatch()?;
        self.events += 1;
        Ok(())
    }

    fn next_event(&self) -> Result<Nanos, SimulationError> {
        let wake_up = self.wake_ups.peek().map(|&Reverse((time, ..))| time);
        let Some(next) = [wake_up, self.device.next_event()]
            .into_iter()
            .flatten()
            .min()
        else {
            return Err(SimulationError::Stalled {
                time: self.elapsed(),
            });
        };
        Ok(next.min(self.next_check).max(self.now))
    }

    fn complete(&mut self) {
        let mut completed = Vec::new();
        self.device.complete(&mut completed);
        for own in completed {
            match own {
                Completed::Flush(lane) => self.wake(lane, 0),
                Completed::Bio(Purpose::Direct(lane)) => self.complete_direct(lane),
                Completed::Bio(Purpose::Part(..)) => {
                    unreachable!("a volume completes whole bios")
                }
                Completed::Bio(Purpose::Fill(file, pages)) => {
                    for lane in self.cache.end_fill(file, pages) {
                        self.wake(lane, 0);
                    }
                }
                Completed::Bio(Purpose::WriteBack(file, pages)) => {
                    self.complete_write_back(file, &pages);
                }
            }
        }
    }

    fn complete_write_back(&mut self, file: usize, pages: &Range<u64>) {
        for lane in self.cache.end_write_back(file, pages) {
            self.wake(lane, 0);
        }
        self.wake_throttled();
    }

    /// Let writers continue if few enough pages are dirty.
    pub(crate) fn wake_throttled(&mut self) {
        if self.cache.unwritten() < self.experiment.host.dirty_pages() {
            for lane in std::mem::take(&mut self.throttled) {
                self.wake(lane, 0);
            }
        }
    }

    fn finish(self) -> Figures {
        let threads = &self.figures;
        Figures {
            duration: self.elapsed(),
            device: self.device.counters(),
            drives: self.device.drives(),
            jobs: self
                .jobs
                .into_iter()
                .map(|job| job.finish(threads))
                .collect(),
            events: self.events,
        }
    }
}
