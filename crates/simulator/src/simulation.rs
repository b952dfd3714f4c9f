//! The closed loop of processes, request queue and drive.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use iostudy_drive::{Drive, Operation, Parameters, Request, SubmitError};
use iostudy_schedulers::{
    Bio, Nanos, ProcessId, RequestId, RequestQueue, SchedulerBuilder, Settings, Submission,
    TunableError,
};

use crate::figures::{Figures, ProcessFigures};
use crate::process::Process;

/// Time at which a simulation begins: some schedulers compute times before now.
const START: Nanos = 100_000_000_000;

/// Error of a simulation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// The drive refused a request of the scheduler.
    #[error("the drive refused a request: {0}")]
    Drive(#[from] SubmitError),
    /// A tunable that the scheduler does not have, or a text that is not a number.
    #[error(transparent)]
    Tunable(#[from] TunableError),
    /// Processes wait, and no event can wake them.
    #[error("no event follows {time} ns, and requests wait; the scheduler holds them for ever")]
    Stalled {
        /// Time of the last event from the start.
        time: Nanos,
    },
}

/// What a simulation runs.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The scheduler.
    pub scheduler: SchedulerBuilder,
    /// Properties of the request queue. Its depth is at most that of the drive.
    pub settings: Settings,
    /// Names and texts of tunables that differ from their defaults.
    pub tunables: Vec<(String, String)>,
    /// The drive.
    pub drive: Parameters,
    /// The processes.
    pub processes: Vec<Process>,
    /// Discarded time at the start.
    pub warm_up: Nanos,
    /// Measured time after it.
    pub duration: Nanos,
}

impl Experiment {
    /// Run the simulation.
    ///
    /// # Errors
    ///
    /// A [`SimulationError`].
    pub fn run(&self) -> Result<Figures, SimulationError> {
        let mut simulation = Simulation::new(self);
        for (name, text) in &self.tunables {
            simulation.queue.write_tunable(name, text)?;
        }
        let end = START + self.warm_up + self.duration;
        loop {
            let time = simulation.next_event()?;
            simulation.account_idle(time.min(end));
            if time > end {
                return Ok(simulation.finish());
            }
            simulation.step(time)?;
        }
    }
}

/// A submitted bio.
#[derive(Clone, Copy)]
struct Issued {
    process: usize,
    time: Nanos,
}

struct Simulation<'a> {
    experiment: &'a Experiment,
    queue: RequestQueue,
    drive: Drive,
    now: Nanos,
    /// Times at which processes submit, in order of their creation at equal times.
    submissions: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    /// Bios for which no request could be allocated.
    waiting: VecDeque<Bio>,
    /// Requests submitted by each process.
    numbers: Vec<u64>,
    issued: HashMap<u64, Issued>,
    in_device: HashMap<u64, RequestId>,
    last_end: u64,
    order: u64,
    figures: Figures,
}

impl<'a> Simulation<'a> {
    fn new(experiment: &'a Experiment) -> Self {
        let processes = experiment.processes.len();
        let mut simulation = Self {
            experiment,
            queue: RequestQueue::new(experiment.settings, START, experiment.scheduler),
            drive: Drive::new(experiment.drive.clone()),
            now: START,
            submissions: BinaryHeap::new(),
            waiting: VecDeque::new(),
            numbers: vec![0; processes],
            issued: HashMap::new(),
            in_device: HashMap::new(),
            last_end: 0,
            order: 0,
            figures: Figures {
                processes: vec![ProcessFigures::default(); processes],
                duration: experiment.duration,
                ..Figures::default()
            },
        };
        for (index, process) in experiment.processes.iter().enumerate() {
            for _ in 0..process.outstanding {
                simulation.plan(START, index);
            }
        }
        simulation
    }

    fn plan(&mut self, time: Nanos, process: usize) {
        self.order += 1;
        self.submissions.push(Reverse((time, self.order, process)));
    }

    /// Time up to which the figures do not count.
    fn measured_from(&self) -> Nanos {
        START + self.experiment.warm_up
    }

    fn is_measured(&self) -> bool {
        self.now >= self.measured_from()
    }

    fn next_event(&self) -> Result<Nanos, SimulationError> {
        let submission = self.submissions.peek().map(|&Reverse((time, ..))| time);
        [submission, self.drive.next_event(), self.queue.next_timer()]
            .into_iter()
            .flatten()
            .min()
            .map(|time| time.max(self.now))
            .ok_or(SimulationError::Stalled {
                time: self.now - START,
            })
    }

    /// Count the time up to `time` if the device is idle while requests wait.
    fn account_idle(&mut self, time: Nanos) {
        if self.drive.in_flight() == 0 && !self.queue.state().requests.is_empty() {
            let from = self.now.max(self.measured_from());
            self.figures.idle += time.saturating_sub(from);
        }
    }

    /// Completions, submissions, timers and dispatches at `time`.
    fn step(&mut self, time: Nanos) -> Result<(), SimulationError> {
        self.now = time;
        let mut tags = Vec::new();
        while let Some(completion) = self.drive.complete(time) {
            if let Some(id) = self.in_device.remove(&completion.id) {
                self.queue.complete(time, id, &mut tags);
            }
        }
        for tag in tags {
            self.complete(tag);
        }
        self.submit_waiting();
        while let Some(&Reverse((at, _, process))) = self.submissions.peek() {
            if at > time {
                break;
            }
            self.submissions.pop();
            self.issue(process);
        }
        self.queue.run_timers(time);
        self.dispatch()
    }

    fn complete(&mut self, tag: u64) {
        let Some(Issued { process, time }) = self.issued.remove(&tag) else {
            return;
        };
        let settings = &self.experiment.processes[process];
        let (sectors, think) = (settings.sectors, settings.think);
        if self.is_measured() {
            self.figures.processes[process].add(sectors, self.now - time);
        }
        self.plan(self.now + think, process);
    }

    fn issue(&mut self, process: usize) {
        let tag = self.order;
        self.order += 1;
        let time = self.now;
        let id = ProcessId(u32::try_from(process).expect("fewer than 2^32 processes"));
        let number = self.numbers[process];
        self.numbers[process] += 1;
        self.issued.insert(tag, Issued { process, time });
        let bio = self.experiment.processes[process].bio(id, number, tag);
        if !self.waiting.is_empty() || !self.submit(bio) {
            self.waiting.push_back(bio);
        }
    }

    /// Submit bios that wait for a request, in their order, until one must wait again.
    fn submit_waiting(&mut self) {
        while let Some(&bio) = self.waiting.front() {
            if !self.submit(bio) {
                return;
            }
            self.waiting.pop_front();
        }
    }

    /// Whether the queue accepts `bio`.
    fn submit(&mut self, bio: Bio) -> bool {
        match self.queue.submit(self.now, bio) {
            Submission::Full => false,
            Submission::Inserted(_) => true,
            Submission::Merged(_) => {
                self.figures.merges += u64::from(self.is_measured());
                true
            }
        }
    }

    fn dispatch(&mut self) -> Result<(), SimulationError> {
        while let Some(id) = self.queue.dispatch(self.now, 0) {
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
            self.in_device.insert(number, id);
            let seek = bio.start != self.last_end;
            self.last_end = bio.end();
            if self.is_measured() {
                self.figures.dispatched += 1;
                self.figures.seeks += u64::from(seek);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Figures {
        for process in &mut self.figures.processes {
            process.sort();
        }
        self.figures
    }
}
