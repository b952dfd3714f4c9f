//! A device with a fixed service time, scripted arrivals and closed-loop streams.
//!
//! At one instant: completions, arrivals in list order, timers, then dispatches while the device
//! has room. Times are in milliseconds from the start of the simulation at 100 s.
#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::BTreeMap;

use iostudy_schedulers::{
    Bio, MergePolicy, Nanos, ProcessId, RequestId, RequestQueue, SchedulerBuilder, Settings,
    Submission,
};

pub const A: ProcessId = ProcessId(1);
pub const B: ProcessId = ProcessId(2);
pub const C: ProcessId = ProcessId(3);

const START: Nanos = 100_000_000_000;

/// Process that submits its next request a think time after the completion of the last.
#[derive(Clone)]
pub struct Stream {
    pub name: &'static str,
    pub bio: Bio,
    /// Sectors from one start to the next.
    pub step: u64,
    pub think_ms: f64,
    pub count: u32,
}

pub struct Simulation {
    pub queue: RequestQueue,
    now: Nanos,
    service: Nanos,
    arrivals: BTreeMap<(Nanos, u64), Bio>,
    completions: BTreeMap<(Nanos, u64), RequestId>,
    waiting: Vec<Bio>,
    names: Vec<String>,
    streams: Vec<(Stream, u32)>,
    stream_of: Vec<Option<usize>>,
    dispatched: Vec<(f64, String)>,
    pub lengths: Vec<u32>,
    pub completed: Vec<String>,
    order: u64,
}

pub fn settings() -> Settings {
    Settings {
        merges: MergePolicy::Disabled,
        ..Settings::default()
    }
}

pub fn nanos(ms: f64) -> Nanos {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small positive times"
    )]
    let offset = (ms * 1e6).round() as Nanos;
    START + offset
}

fn ms(time: Nanos) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let offset = (time - START) as f64;
    offset / 1e6
}

impl Simulation {
    /// A device that serves each request in `service_ms`.
    pub fn new(build: SchedulerBuilder, settings: Settings, service_ms: f64) -> Self {
        Self {
            queue: RequestQueue::new(settings, START, build),
            now: START,
            service: nanos(service_ms) - START,
            arrivals: BTreeMap::new(),
            completions: BTreeMap::new(),
            waiting: Vec::new(),
            names: Vec::new(),
            streams: Vec::new(),
            stream_of: Vec::new(),
            dispatched: Vec::new(),
            lengths: Vec::new(),
            completed: Vec::new(),
            order: 0,
        }
    }

    pub fn tune(mut self, tunables: &[(&str, &str)]) -> Self {
        for (name, text) in tunables {
            self.queue.write_tunable(name, text).expect("a tunable");
        }
        self
    }

    /// A request `name` arrives at `at` ms.
    pub fn at(&mut self, at: f64, name: &str, bio: Bio) {
        self.add(nanos(at), name.to_owned(), bio, None);
    }

    /// The first request of `stream` arrives at `at` ms.
    pub fn stream(&mut self, at: f64, stream: Stream) {
        self.streams.push((stream, 0));
        self.next_of_stream(nanos(at), self.streams.len() - 1);
    }

    fn next_of_stream(&mut self, time: Nanos, index: usize) {
        let (stream, issued) = &mut self.streams[index];
        if *issued == stream.count {
            return;
        }
        let mut bio = stream.bio;
        bio.start += u64::from(*issued) * stream.step;
        *issued += 1;
        let name = format!("{}{issued}", stream.name);
        self.add(time, name, bio, Some(index));
    }

    fn add(&mut self, time: Nanos, name: String, mut bio: Bio, stream: Option<usize>) {
        bio.tag = self.names.len() as u64;
        self.names.push(name);
        self.stream_of.push(stream);
        self.order += 1;
        self.arrivals.insert((time, self.order), bio);
    }

    /// Run until nothing can happen or `end` ms have passed. Returns times and names of the
    /// dispatched requests.
    pub fn run(&mut self, end: f64) -> Vec<(f64, &str)> {
        while let Some(time) = self.next_event().filter(|&time| time <= nanos(end)) {
            assert!(time >= self.now, "the clock went back");
            self.now = time;
            self.step();
        }
        self.dispatched
            .iter()
            .map(|(at, name)| (*at, name.as_str()))
            .collect()
    }

    fn next_event(&self) -> Option<Nanos> {
        let arrival = self.arrivals.keys().next().map(|key| key.0);
        let completion = self.completions.keys().next().map(|key| key.0);
        [arrival, completion, self.queue.next_timer()]
            .into_iter()
            .flatten()
            .min()
            .map(|time| time.max(self.now))
    }

    fn step(&mut self) {
        let now = self.now;
        while let Some(entry) = self.completions.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let id = entry.remove();
            self.complete(id);
        }
        for bio in std::mem::take(&mut self.waiting) {
            self.submit(bio);
        }
        while let Some(entry) = self.arrivals.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let bio = entry.remove();
            self.submit(bio);
        }
        self.queue.run_timers(now);
        while let Some(id) = self.queue.dispatch(now) {
            self.start(id);
        }
    }

    /// A bio that finds no free request waits for the next completion.
    fn submit(&mut self, bio: Bio) {
        if self.queue.submit(self.now, bio) == Submission::Full {
            self.waiting.push(bio);
        }
    }

    fn complete(&mut self, id: RequestId) {
        let mut tags = Vec::new();
        self.queue.complete(self.now, id, &mut tags);
        for tag in tags {
            let tag = usize::try_from(tag).expect("a small number");
            self.completed.push(self.names[tag].clone());
            if let Some(index) = self.stream_of[tag] {
                let think = nanos(self.streams[index].0.think_ms) - START;
                self.next_of_stream(self.now + think, index);
            }
        }
    }

    fn start(&mut self, id: RequestId) {
        let bio = self.queue.request(id).bio;
        let tag = usize::try_from(bio.tag).expect("a small number");
        self.dispatched
            .push((ms(self.now), self.names[tag].clone()));
        self.lengths.push(bio.sectors);
        self.order += 1;
        self.completions
            .insert((self.now + self.service, self.order), id);
    }
}
