//! The request queue and the drive, with the purposes of all bios.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;

use iostudy_drive::{Drive, Operation, Parameters, Request, SubmitError};
use iostudy_pattern::nth;
use iostudy_schedulers::{
    Bio, Nanos, ProcessId, RequestId, RequestQueue, SchedulerBuilder, Settings, Submission,
    TunableError,
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
    /// Part of a bio of a volume, on this drive.
    Part(usize, usize),
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
    /// Requests that were completed since the last batch.
    completed: u64,
    /// Processes that were woken in an order drawn at random.
    woken: u64,
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
            completed: 0,
            woken: 0,
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

    /// Submit a bio, or let it wait for a request. It waits behind those of its process alone.
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
        let sleeps = self.waiting[class]
            .iter()
            .any(|other| other.process == bio.process);
        if sleeps || !self.try_submit(bio) {
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
        self.completed += 1;
        let request = *self.queue.request(id);
        let waited = self.now - request.allocated;
        let counters = self.direction(request.bio.is_read());
        counters.requests += 1;
        counters.sectors += u64::from(request.bio.sectors);
        counters.waited += waited;
        self.queue.complete(self.now, id, &mut self.tags);
    }

    /// Submit bios that wait for a request, as the completions since the last call allow.
    pub fn submit_waiting(&mut self) {
        match self.queue.wake_batch() {
            Some(batch) => self.wake_batches(batch),
            None => self.wake_in_order(),
        }
    }

    fn wake_in_order(&mut self) {
        for class in [1, 0] {
            while let Some(&bio) = self.waiting[class].front() {
                if !self.try_submit(bio) {
                    break;
                }
                self.waiting[class].pop_front();
            }
        }
    }

    /// After each `batch` completions as many processes are woken, drawn at random.
    fn wake_batches(&mut self, batch: u32) {
        while self.completed >= u64::from(batch) {
            self.completed -= u64::from(batch);
            for class in [1, 0] {
                for _ in 0..batch {
                    self.wake_any(class);
                }
            }
        }
    }

    fn wake_any(&mut self, class: usize) {
        let waiting = self.waiting[class].iter().map(|bio| bio.process);
        let processes: Vec<ProcessId> = waiting.collect::<BTreeSet<_>>().into_iter().collect();
        if processes.is_empty() {
            return;
        }
        self.woken += 1;
        let drawn = nth(0, self.woken) % processes.len() as u64;
        let process = processes[usize::try_from(drawn).expect("index of a process")];
        self.submit_process(class, process);
    }

    /// Submit the bios of a process, in their order, until one must wait again.
    fn submit_process(&mut self, class: usize, process: ProcessId) {
        let own = |bio: &Bio| bio.process == process;
        while let Some(index) = self.waiting[class].iter().position(own) {
            if !self.try_submit(self.waiting[class][index]) {
                break;
            }
            self.waiting[class].remove(index);
        }
    }

    /// Run the scheduler's timers, and give the drive what it accepts.
    pub fn dispatch(&mut self) -> Result<(), SimulationError> {
        self.queue.run_timers(self.now);
        while self.drive.in_flight() < self.depth {
            if let Some(lane) = self.flushes.pop_front() {
                self.counters.flushes += 1;
                self.drive.submit(self.now, flush(lane))?;
            } else if let Some(id) = self.queue.dispatch(self.now) {
                self.drive_request(id)?;
            } else {
                return Ok(());
            }
        }
        // The driver may take a request ahead.
        self.queue.take_ahead(self.now);
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

#[cfg(test)]
mod tests {
    use iostudy_schedulers::NoScheduler;

    use super::*;
    use crate::common;

    const TAGS: u32 = 16;

    fn submit(device: &mut Device, number: u32) {
        let bio = Bio::read(ProcessId(number), u64::from(number) * 1000, 8);
        device.submit(bio, Purpose::Direct(0));
    }

    fn complete_one(device: &mut Device) {
        device.dispatch().expect("reads of the drive");
        let mut completed = Vec::new();
        while completed.is_empty() {
            let next = device.next_event().expect("reads under way");
            device.advance(next);
            device.complete(&mut completed);
        }
        assert_eq!(completed.len(), 1);
        device.submit_waiting();
    }

    #[test]
    fn without_a_scheduler_waiting_reads_continue_after_a_batch_of_completions() {
        let settings = Settings {
            nr_requests: TAGS,
            queue_depth: TAGS,
            ..Settings::default()
        };
        let drive = Parameters::Disk(common::disk());
        let mut device = Device::new(settings, 0, NoScheduler::build, &drive);
        (0..TAGS + 3).for_each(|number| submit(&mut device, number));
        assert_eq!(device.waiting[1].len(), 3);
        complete_one(&mut device);
        assert_eq!(device.waiting[1].len(), 3, "16 tags have batches of 2");
        // A newcomer takes the tag before those that wait.
        submit(&mut device, TAGS + 3);
        assert_eq!(device.waiting[1].len(), 3);
        complete_one(&mut device);
        assert_eq!(device.waiting[1].len(), 2, "one tag is free");
    }
}
