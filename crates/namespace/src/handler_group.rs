//! Group of name-node handlers that one OS thread runs.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant, SystemTime};

use iostudy_latency::{IoStats, Latencies, empty_latencies, record};
use iostudy_windows::WindowCursor;

use crate::error::Error;
use crate::job::Job;
use crate::namespace::Namespace;
use crate::operation::{FileState, Operation, PathBuilder};
use crate::progress::WaitTimes;

pub(crate) type Worker<'a> = iostudy_worker_pool::Worker<'a, Error>;
pub(crate) type Halt = iostudy_worker_pool::Halt<Error>;

/// Upper limit of a wait before the next stop check.
pub(crate) const MAX_WAIT: Duration = Duration::from_millis(50);

/// Files that a worker takes through all operations before it takes the next ones. So every window
/// has all operations in equal numbers.
const GROUP_FILES: usize = 32;

/// Measurements of one worker.
pub(crate) struct WorkerResult {
    pub(crate) started: Instant,
    pub(crate) ended: Instant,
    pub(crate) latencies: Latencies,
    pub(crate) wait_times: WaitTimes,
    pub(crate) checkpoints: Duration,
}

pub(crate) struct HandlerGroup<'a> {
    job: &'a Job,
    namespace: &'a Namespace,
    worker: &'a Worker<'a>,
    paths: PathBuilder,
    /// Unacknowledged mutations in transaction order.
    unacknowledged: VecDeque<InFlight>,
    completed: u64,
    windows: WindowCursor<'a>,
    /// Counters by operation of the job; a phase uses the first.
    counts: Vec<IoStats>,
    result: WorkerResult,
}

/// Operation in flight.
#[derive(Clone, Copy)]
struct InFlight {
    transaction: u64,
    /// Index of its counters.
    counter: usize,
    started: Instant,
}

impl<'a> HandlerGroup<'a> {
    /// Start the measurement.
    pub(crate) fn start(
        job: &'a Job,
        namespace: &'a Namespace,
        worker: &'a Worker<'a>,
        windows: WindowCursor<'a>,
    ) -> Self {
        let now = Instant::now();
        Self {
            job,
            namespace,
            worker,
            paths: PathBuilder::default(),
            unacknowledged: VecDeque::new(),
            completed: 0,
            windows,
            counts: vec![IoStats::new(); job.operations.len()],
            result: WorkerResult {
                started: now,
                ended: now,
                latencies: empty_latencies(),
                wait_times: WaitTimes::default(),
                checkpoints: Duration::ZERO,
            },
        }
    }

    /// Run the operation on every file of this worker and wait for all acknowledgements.
    pub(crate) fn run(
        mut self,
        operation: Operation,
        files: FileState,
    ) -> Result<WorkerResult, Halt> {
        for file in self.job.file_range(self.worker.index()) {
            self.perform((0, operation), file, files)?;
        }
        self.wait_for_slot(1)?;
        self.result.ended = Instant::now();
        self.result.latencies = self.counts.swap_remove(0).latencies;
        Ok(self.result)
    }

    /// Run all operations of the job on one group of files after another, until a stop.
    pub(crate) fn repeat(mut self, files: FileState) -> Result<WorkerResult, Halt> {
        let own = self.job.file_range(self.worker.index());
        loop {
            self.worker.check_stop()?;
            for first in own.clone().step_by(GROUP_FILES) {
                let group = first..own.end.min(first + GROUP_FILES as u64);
                self.run_cycle(group, files)?;
            }
        }
    }

    fn run_cycle(&mut self, group: Range<u64>, mut files: FileState) -> Result<(), Halt> {
        for (index, operation) in self.job.operations.iter().enumerate() {
            for file in group.clone() {
                self.perform((index, *operation), file, files)?;
            }
            files = files.after(*operation).expect("the order was validated");
        }
        Ok(())
    }

    fn perform(
        &mut self,
        (counter, operation): (usize, Operation),
        file: u64,
        files: FileState,
    ) -> Result<(), Halt> {
        self.wait_for_slot(self.job.threads_per_worker(self.worker.index()))?;
        let place = (file, self.job.directory_index(file));
        if operation.changes() {
            self.change((counter, operation), place, files)
        } else {
            self.read_status(counter, place, files)
        }
    }

    fn change(
        &mut self,
        (counter, operation): (usize, Operation),
        place: (u64, u64),
        files: FileState,
    ) -> Result<(), Halt> {
        let started = Instant::now();
        let mutation = self.paths.mutation(operation, place, files, now_ms());
        let changed = self
            .namespace
            .change(&mutation, &mut self.result.wait_times);
        let transaction = changed.map_err(Error::TreeError)?;
        self.unacknowledged.push_back(InFlight {
            transaction,
            counter,
            started,
        });
        let every = self.job.checkpoint_every;
        if every > 0 && transaction % every == 0 {
            let began = Instant::now();
            self.namespace.checkpoint()?;
            self.result.checkpoints += began.elapsed();
        }
        Ok(())
    }

    fn read_status(
        &mut self,
        counter: usize,
        place: (u64, u64),
        files: FileState,
    ) -> Result<(), Halt> {
        let started = Instant::now();
        let path = self.paths.file(place, files);
        let found = self.namespace.status(path, &mut self.result.wait_times);
        found.map_err(Error::TreeError)?;
        self.complete(counter, started, Instant::now());
        Ok(())
    }

    /// Wait until fewer than `max_in_flight` operations are in flight.
    fn wait_for_slot(&mut self, max_in_flight: usize) -> Result<(), Halt> {
        self.worker.check_stop()?;
        let mut durable = self.namespace.durable()?;
        loop {
            self.acknowledge(durable);
            match self.unacknowledged.front() {
                Some(&InFlight {
                    transaction: oldest,
                    ..
                }) if self.unacknowledged.len() >= max_in_flight => {
                    self.worker.check_stop()?;
                    let wait_times = &mut self.result.wait_times;
                    durable = self.namespace.wait_for(oldest, MAX_WAIT, wait_times)?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn acknowledge(&mut self, durable: u64) {
        let mut now = None;
        while let Some(&in_flight) = self.unacknowledged.front() {
            if in_flight.transaction > durable {
                return;
            }
            self.unacknowledged.pop_front();
            let ended = *now.get_or_insert_with(Instant::now);
            self.complete(in_flight.counter, in_flight.started, ended);
        }
    }

    fn complete(&mut self, counter: usize, started: Instant, ended: Instant) {
        self.windows.advance(ended, || self.counts.clone());
        record(&mut self.counts[counter].latencies, ended - started);
        self.completed += 1;
        self.worker.report_progress(self.completed);
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
