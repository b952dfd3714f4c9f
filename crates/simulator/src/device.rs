//! The request queue and the drive, with the purposes of all bios.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use iostudy_drive::{Drive, Operation, Parameters, Request, SubmitError};
use iostudy_schedulers::{
    Bio, Nanos, RequestId, RequestQueue, SchedulerBuilder, Settings, Submission, TunableError,
};

use crate::figures::{DeviceCounters, DirectionCounters};

/// Identifiers of flush commands; those of other commands are indices of requests.
const FLUSHES: u64 = 1 << 40;

/// Error of a simulation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// The drive refused a request of the scheduler.
    #[error("the drive refused a request: {0}")]
    Drive(#[from] SubmitError),
    /// A tunable that the scheduler does not have, or a text that is not a number.
    #[error(transparent)]
    Tunable(#[from] TunableError),
    /// Threads wait, and no event can wake them.
    #[error("no event follows {time} ns, and threads wait")]
    Stalled {
        /// Time of the last event from the start.
        time: Nanos,
    },
    /// The caller stopped the simulation.
    #[error("the simulation was stopped")]
    Stopped,
}

/// Why a bio was submitted.
#[derive(Clone, Debug)]
pub enum Purpose {
    /// For a direct operation of this lane.
    Direct(usize),
    /// To read pages of a file into the page cache.
    Fill(usize, Range<u64>),
    /// To write pages of a file from the page cache.
    WriteBack(usize, Range<u64>),
}

/// What the device has completed.
#[derive(Debug)]
pub enum Completed {
    /// A bio.
    Bio(Purpose),
    /// The flush of this lane.
    Flush(usize),
}

/// Request queue and drive.
pub struct Device {
    queue: RequestQueue,
    drive: Drive,
    depth: usize,
    now: Nanos,
    /// Bios without a request: async ones, and sync ones.
    waiting: [VecDeque<Bio>; 2],
    flushes: VecDeque<usize>,
    purposes: Vec<Option<Purpose>>,
    free: Vec<usize>,
    driven: HashMap<u64, RequestId>,
    last_end: u64,
    tags: Vec<u64>,
    counters: DeviceCounters,
}

impl Device {
    pub fn new(
        settings: Settings,
        start: Nanos,
        scheduler: SchedulerBuilder,
        drive: &Parameters,
    ) -> Self {
        let depth = match drive {
            Parameters::Disk(disk) => disk.queue.depth,
            Parameters::Flash(flash) => flash.depth,
        };
        Self {
            queue: RequestQueue::new(settings, start, scheduler),
            drive: Drive::new(drive.clone()),
            depth: depth.min(settings.queue_depth as usize),
            now: start,
            waiting: [VecDeque::new(), VecDeque::new()],
            flushes: VecDeque::new(),
            purposes: Vec::new(),
            free: Vec::new(),
            driven: HashMap::new(),
            last_end: 0,
            tags: Vec::new(),
            counters: DeviceCounters::default(),
        }
    }

    pub fn write_tunable(&mut self, name: &str, text: &str) -> Result<(), TunableError> {
        self.queue.write_tunable(name, text)
    }

    pub const fn counters(&self) -> &DeviceCounters {
        &self.counters
    }

    /// Whether async bios wait for a request.
    pub fn is_congested(&self) -> bool {
        !self.waiting[0].is_empty()
    }

    pub fn next_event(&self) -> Option<Nanos> {
        let times = [self.drive.next_event(), self.queue.next_timer()];
        times.into_iter().flatten().min()
    }

    /// Move the clock on, and account the time until then.
    pub fn advance(&mut self, now: Nanos) {
        let elapsed = now - self.now;
        let is_queued = !self.queue.state().requests.is_empty();
        let is_driven = self.drive.in_flight() > 0;
        self.counters.busy += if is_queued || is_driven { elapsed } else { 0 };
        self.counters.idle += if is_queued && !is_driven { elapsed } else { 0 };
        self.now = now;
    }

    /// Submit a bio, or let it wait for a request.
    pub fn submit(&mut self, bio: Bio, purpose: Purpose) {
        let tag = self.free.pop().unwrap_or_else(|| {
            self.purposes.push(None);
            self.purposes.len() - 1
        });
        self.purposes[tag] = Some(purpose);
        let bio = Bio {
            tag: tag as u64,
            ..bio
        };
        let class = usize::from(bio.is_sync());
        if !self.waiting[class].is_empty() || !self.try_submit(bio) {
            self.waiting[class].push_back(bio);
        }
    }

    /// Send a flush to the drive as soon as it accepts a command.
    pub fn submit_flush(&mut self, lane: usize) {
        self.flushes.push_back(lane);
    }

    fn try_submit(&mut self, bio: Bio) -> bool {
        match self.queue.submit(self.now, bio) {
            Submission::Full => false,
            Submission::Inserted(_) => true,
            Submission::Merged(_) => {
                self.direction(bio.is_read()).merged += 1;
                true
            }
        }
    }

    const fn direction(&mut self, read: bool) -> &mut DirectionCounters {
        if read {
            &mut self.counters.read
        } else {
            &mut self.counters.write
        }
    }

    /// Take what the drive has completed by now.
    pub fn complete(&mut self, completed: &mut Vec<Completed>) {
        while let Some(completion) = self.drive.complete(self.now) {
            if completion.id >= FLUSHES {
                let lane = usize::try_from(completion.id - FLUSHES).expect("number of a lane");
                completed.push(Completed::Flush(lane));
            } else if let Some(id) = self.driven.remove(&completion.id) {
                self.complete_request(id);
            }
        }
        for tag in self.tags.drain(..) {
            let tag = usize::try_from(tag).expect("index of a bio");
            self.free.push(tag);
            completed.extend(self.purposes[tag].take().map(Completed::Bio));
        }
    }

    fn complete_request(&mut self, id: RequestId) {
        let request = *self.queue.request(id);
        let waited = self.now - request.allocated;
        let counters = self.direction(request.bio.is_read());
        counters.requests += 1;
        counters.sectors += u64::from(request.bio.sectors);
        counters.waited += waited;
        self.queue.complete(self.now, id, &mut self.tags);
    }

    /// Submit bios that wait for a request, in their order, until one must wait again.
    pub fn submit_waiting(&mut self) {
        for class in [1, 0] {
            while let Some(&bio) = self.waiting[class].front() {
                if !self.try_submit(bio) {
                    break;
                }
                self.waiting[class].pop_front();
            }
        }
    }

    /// Run the scheduler's timers, and give the drive what it accepts.
    pub fn dispatch(&mut self) -> Result<(), SimulationError> {
        self.queue.run_timers(self.now);
        while self.drive.in_flight() < self.depth {
            if let Some(lane) = self.flushes.pop_front() {
                self.counters.flushes += 1;
                self.drive.submit(self.now, flush(lane))?;
            } else if let Some(id) = self.queue.dispatch(self.now, 0) {
                self.drive_request(id)?;
            } else {
                return Ok(());
            }
        }
        // The driver may take a request ahead.
        self.queue.take_ahead(self.now, 0);
        Ok(())
    }

    fn drive_request(&mut self, id: RequestId) -> Result<(), SimulationError> {
        let bio = self.queue.request(id).bio;
        let number = id.index() as u64;
        let operation = if bio.is_read() {
            Operation::Read
        } else {
            Operation::Write
        };
        let request = Request {
            id: number,
            operation,
            block: bio.start,
            blocks: bio.sectors,
            fua: false,
        };
        self.drive.submit(self.now, request)?;
        self.driven.insert(number, id);
        self.counters.seeks += u64::from(bio.start != self.last_end);
        self.last_end = bio.end();
        Ok(())
    }
}

const fn flush(lane: usize) -> Request {
    Request {
        id: FLUSHES + lane as u64,
        operation: Operation::Flush,
        block: 0,
        blocks: 0,
        fua: false,
    }
}
