//! Group of name-node handlers that one OS thread runs.

use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime};

use iostudy_latency::{Latencies, empty_latencies, record};

use crate::error::Error;
use crate::job::Job;
use crate::namespace::Namespace;
use crate::operation::{FileState, Operation, PathBuilder};
use crate::progress::WaitTimes;

pub(crate) type Worker<'a> = iostudy_worker_pool::Worker<'a, WorkerResult, Error>;
pub(crate) type Halt = iostudy_worker_pool::Halt<Error>;

/// Upper limit of a wait before the next stop check.
pub(crate) const MAX_WAIT: Duration = Duration::from_millis(50);

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
    /// Unacknowledged mutations with their start times, in transaction order.
    unacknowledged: VecDeque<(u64, Instant)>,
    completed: u64,
    result: WorkerResult,
}

impl<'a> HandlerGroup<'a> {
    /// Start the measurement.
    pub(crate) fn start(job: &'a Job, namespace: &'a Namespace, worker: &'a Worker<'a>) -> Self {
        let now = Instant::now();
        Self {
            job,
            namespace,
            worker,
            paths: PathBuilder::default(),
            unacknowledged: VecDeque::new(),
            completed: 0,
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
        let max_in_flight = self.job.threads_per_worker(self.worker.index());
        for file in self.job.file_range(self.worker.index()) {
            self.wait_for_slot(max_in_flight)?;
            let place = (file, self.job.directory_index(file));
            if operation.changes() {
                self.change(operation, place, files)?;
            } else {
                self.read_status(place, files)?;
            }
        }
        self.wait_for_slot(1)?;
        self.result.ended = Instant::now();
        Ok(self.result)
    }

    fn change(
        &mut self,
        operation: Operation,
        place: (u64, u64),
        files: FileState,
    ) -> Result<(), Halt> {
        let started = Instant::now();
        let mutation = self.paths.mutation(operation, place, files, now_ms());
        let changed = self
            .namespace
            .change(&mutation, &mut self.result.wait_times);
        let transaction = changed.map_err(Error::TreeError)?;
        self.unacknowledged.push_back((transaction, started));
        let every = self.job.checkpoint_every;
        if every > 0 && transaction % every == 0 {
            let began = Instant::now();
            self.namespace.checkpoint()?;
            self.result.checkpoints += began.elapsed();
        }
        Ok(())
    }

    fn read_status(&mut self, place: (u64, u64), files: FileState) -> Result<(), Halt> {
        let started = Instant::now();
        let path = self.paths.file(place, files);
        let found = self.namespace.status(path, &mut self.result.wait_times);
        found.map_err(Error::TreeError)?;
        self.complete(started, Instant::now());
        Ok(())
    }

    /// Wait until fewer than `max_in_flight` operations are in flight.
    fn wait_for_slot(&mut self, max_in_flight: usize) -> Result<(), Halt> {
        self.worker.check_stop()?;
        let mut durable = self.namespace.durable()?;
        loop {
            self.acknowledge(durable);
            match self.unacknowledged.front() {
                Some(&(oldest, _)) if self.unacknowledged.len() >= max_in_flight => {
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
        while let Some(&(transaction, started)) = self.unacknowledged.front() {
            if transaction > durable {
                return;
            }
            self.unacknowledged.pop_front();
            self.complete(started, *now.get_or_insert_with(Instant::now));
        }
    }

    fn complete(&mut self, started: Instant, ended: Instant) {
        record(&mut self.result.latencies, ended - started);
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
