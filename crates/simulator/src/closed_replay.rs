//! Closed-loop replay of recorded bios.
//!
//! A thread submits its bios in their order. Each waits until a number of the thread's bios have
//! completed, and then for a delay. So a scheduler that serves a thread late delays all that the
//! thread does afterwards.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use iostudy_drive::Parameters;
use iostudy_latency::{IoStats, record};
use iostudy_schedulers::{Bio, Nanos, SchedulerBuilder, Settings};

use crate::device::{Completed, Device, Purpose, SimulationError};
use crate::figures::DeviceCounters;
use crate::state::START;

/// Bios between two calls of the caller's tick.
const EVENTS_PER_TICK: u64 = 10_000;

/// What a recorded bio does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Move data.
    Data,
    /// Flush the drive's cache, then move data.
    FlushAndData,
    /// Flush the drive's cache.
    Flush,
}

/// A recorded bio, which waits for completions of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedBio {
    /// Its process, direction and sectors.
    pub bio: Bio,
    /// What it does.
    pub action: Action,
    /// Number of the thread's completions before it.
    pub after: u64,
    /// Time from the last of them, or from the thread's previous bio, to its submission.
    pub delay: Nanos,
}

/// Figures of a replay.
#[derive(Clone, Debug)]
pub struct ReplayFigures {
    /// Reads, from submission to completion.
    pub read: IoStats,
    /// Writes and flushes.
    pub write: IoStats,
    /// Time from the start to the last completion.
    pub duration: Nanos,
    /// Counters of the device.
    pub device: DeviceCounters,
    /// Events that the replay processed.
    pub events: u64,
}

/// Threads with their bios on a simulated disk.
pub struct ClosedReplay {
    /// The scheduler.
    pub scheduler: SchedulerBuilder,
    /// Properties of the request queue. Its depth is at most that of the drive.
    pub settings: Settings,
    /// Names and texts of tunables that differ from their defaults.
    pub tunables: Vec<(String, String)>,
    /// The drive.
    pub drive: Parameters,
    /// The bios of each thread.
    pub threads: Vec<Vec<TracedBio>>,
}

impl ClosedReplay {
    /// Run the replay until all bios have completed.
    ///
    /// `tick` gets the number of events now and then, and returns false to stop.
    ///
    /// # Errors
    ///
    /// A [`SimulationError`].
    pub fn run(&self, tick: &mut dyn FnMut(u64) -> bool) -> Result<ReplayFigures, SimulationError> {
        let mut device = Device::new(self.settings, START, self.scheduler, &self.drive);
        for (name, text) in &self.tunables {
            device.write_tunable(name, text)?;
        }
        let mut replay = Replay::new(&self.threads, device);
        while replay.completed < replay.bios.len() {
            if replay.figures.events % EVENTS_PER_TICK == 0 && !tick(replay.figures.events) {
                return Err(SimulationError::Stopped);
            }
            replay.step()?;
        }
        replay.figures.duration = replay.now - START;
        replay.figures.device = *replay.device.counters();
        Ok(replay.figures)
    }
}

/// A bio under replay.
#[derive(Clone, Copy)]
struct Entry {
    thread: usize,
    own: TracedBio,
    submitted: Nanos,
}

/// Progress of a thread.
#[derive(Clone, Copy)]
struct Progress {
    /// Index of its next bio, and of the first one of the next thread.
    next: usize,
    end: usize,
    completed: u64,
    /// Whether its next bio waits for completions.
    waits: bool,
}

struct Replay {
    device: Device,
    bios: Vec<Entry>,
    threads: Vec<Progress>,
    now: Nanos,
    /// Times of submissions, in order of their planning at equal times.
    submissions: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    planned: u64,
    completed: usize,
    figures: ReplayFigures,
}

impl Replay {
    fn new(threads: &[Vec<TracedBio>], device: Device) -> Self {
        let mut bios = Vec::new();
        let mut progress = Vec::with_capacity(threads.len());
        for (thread, own) in threads.iter().enumerate() {
            let next = bios.len();
            bios.extend(own.iter().map(|&own| Entry {
                thread,
                own,
                submitted: START,
            }));
            progress.push(Progress {
                next,
                end: bios.len(),
                completed: 0,
                waits: true,
            });
        }
        let mut replay = Self {
            device,
            bios,
            threads: progress,
            now: START,
            submissions: BinaryHeap::new(),
            planned: 0,
            completed: 0,
            figures: ReplayFigures {
                read: IoStats::new(),
                write: IoStats::new(),
                duration: 0,
                device: DeviceCounters::default(),
                events: 0,
            },
        };
        for thread in 0..replay.threads.len() {
            replay.plan(thread);
        }
        replay
    }

    /// Plan the next submission of a thread if its completions are there.
    fn plan(&mut self, thread: usize) {
        let progress = &mut self.threads[thread];
        if progress.next == progress.end {
            progress.waits = false;
            return;
        }
        let own = self.bios[progress.next].own;
        progress.waits = progress.completed < own.after;
        if !progress.waits {
            self.planned += 1;
            let time = self.now + own.delay;
            self.submissions.push(Reverse((time, self.planned, thread)));
        }
    }

    /// Completions, submissions, timers and dispatches of the next instant.
    fn step(&mut self) -> Result<(), SimulationError> {
        let time = self.next_event()?;
        self.device.advance(time);
        self.now = time;
        let mut completed = Vec::new();
        self.device.complete(&mut completed);
        for own in completed {
            self.complete(&own);
        }
        self.device.submit_waiting();
        while let Some(&Reverse((at, _, thread))) = self.submissions.peek()
            && at <= time
        {
            self.submissions.pop();
            self.submit(thread);
        }
        self.device.dispatch()?;
        self.figures.events += 1;
        Ok(())
    }

    fn next_event(&self) -> Result<Nanos, SimulationError> {
        let submission = self.submissions.peek().map(|&Reverse((time, ..))| time);
        let times = [submission, self.device.next_event()];
        let next = times.into_iter().flatten().min();
        let time = self.now - START;
        Ok(next.ok_or(SimulationError::Stalled { time })?.max(self.now))
    }

    fn submit(&mut self, thread: usize) {
        let index = self.threads[thread].next;
        self.threads[thread].next += 1;
        self.bios[index].submitted = self.now;
        match self.bios[index].own.action {
            Action::Data => self.submit_data(index),
            Action::FlushAndData | Action::Flush => self.device.submit_flush(index),
        }
        self.plan(thread);
    }

    fn submit_data(&mut self, index: usize) {
        let bio = self.bios[index].own.bio;
        self.device.submit(bio, Purpose::Direct(index));
    }

    fn complete(&mut self, completed: &Completed) {
        match *completed {
            Completed::Flush(index) if self.bios[index].own.action == Action::FlushAndData => {
                self.submit_data(index);
            }
            Completed::Flush(index) | Completed::Bio(Purpose::Direct(index)) => self.end(index),
            Completed::Bio(Purpose::Fill(..) | Purpose::WriteBack(..) | Purpose::Part(..)) => {
                unreachable!("a replay has no page cache")
            }
        }
    }

    fn end(&mut self, index: usize) {
        let Entry {
            thread,
            own,
            submitted,
        } = self.bios[index];
        let stats = if own.bio.is_read() {
            &mut self.figures.read
        } else {
            &mut self.figures.write
        };
        stats.bytes += u64::from(own.bio.sectors) * 512;
        record(
            &mut stats.latencies,
            Duration::from_nanos(self.now - submitted),
        );
        self.completed += 1;
        self.threads[thread].completed += 1;
        if self.threads[thread].waits {
            self.plan(thread);
        }
    }
}
