//! One thread of the system, and the operations that it carries.

use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime};

use iostudy_latency::{Latencies, empty_latencies, record};

use crate::error::Error;
use crate::job::Job;
use crate::namespace::Namespace;
use crate::operation::{Files, Operation, Paths};
use crate::progress::Waits;

pub(crate) type PoolWorker<'a> = iostudy_worker_pool::Worker<'a, Timed, Error>;
pub(crate) type Halt = iostudy_worker_pool::Halt<Error>;

/// Whoever waits asks so often whether to go on.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// What one worker measured.
pub(crate) struct Timed {
    pub(crate) started: Instant,
    pub(crate) ended: Instant,
    pub(crate) latencies: Latencies,
    pub(crate) waits: Waits,
    pub(crate) checkpoints: Duration,
}

pub(crate) struct Worker<'a> {
    job: &'a Job,
    namespace: &'a Namespace,
    member: &'a PoolWorker<'a>,
    paths: Paths,
    /// Mutations that are not acknowledged yet, with their starts; transactions rise.
    waiting: VecDeque<(u64, Instant)>,
    done: u64,
    timed: Timed,
}

impl<'a> Worker<'a> {
    /// The first operation starts now.
    pub(crate) fn start(
        job: &'a Job,
        namespace: &'a Namespace,
        member: &'a PoolWorker<'a>,
    ) -> Self {
        let now = Instant::now();
        Self {
            job,
            namespace,
            member,
            paths: Paths::default(),
            waiting: VecDeque::new(),
            done: 0,
            timed: Timed {
                started: now,
                ended: now,
                latencies: empty_latencies(),
                waits: Waits::default(),
                checkpoints: Duration::ZERO,
            },
        }
    }

    /// Do it to every file of this worker, and wait until all is acknowledged.
    pub(crate) fn carry_out(mut self, operation: Operation, files: Files) -> Result<Timed, Halt> {
        let at_once = self.job.threads_of(self.member.index());
        for file in self.job.share(self.member.index()) {
            self.make_room(at_once)?;
            let place = (file, self.job.directory_of(file));
            if operation.changes() {
                self.change(operation, place, files)?;
            } else {
                self.look(place, files)?;
            }
        }
        self.make_room(1)?;
        self.timed.ended = Instant::now();
        Ok(self.timed)
    }

    fn change(
        &mut self,
        operation: Operation,
        place: (u64, u64),
        files: Files,
    ) -> Result<(), Halt> {
        let started = Instant::now();
        let mutation = self.paths.mutation(operation, place, files, now_ms());
        let changed = self.namespace.change(&mutation, &mut self.timed.waits);
        let transaction = changed.map_err(Error::Refused)?;
        self.waiting.push_back((transaction, started));
        let every = self.job.checkpoint_every;
        if every > 0 && transaction % every == 0 {
            let began = Instant::now();
            self.namespace.checkpoint()?;
            self.timed.checkpoints += began.elapsed();
        }
        Ok(())
    }

    fn look(&mut self, place: (u64, u64), files: Files) -> Result<(), Halt> {
        let started = Instant::now();
        let path = self.paths.file(place, files);
        let found = self.namespace.status(path, &mut self.timed.waits);
        found.map_err(Error::Refused)?;
        self.has_ended(started, Instant::now());
        Ok(())
    }

    /// Wait until fewer than `at_once` operations are under way.
    fn make_room(&mut self, at_once: usize) -> Result<(), Halt> {
        self.member.check_stop()?;
        let mut durable = self.namespace.durable()?;
        loop {
            self.acknowledge(durable);
            match self.waiting.front() {
                Some(&(oldest, _)) if self.waiting.len() >= at_once => {
                    self.member.check_stop()?;
                    let waits = &mut self.timed.waits;
                    durable = self.namespace.wait_for(oldest, LONGEST_WAIT, waits)?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn acknowledge(&mut self, durable: u64) {
        let mut now = None;
        while let Some(&(transaction, started)) = self.waiting.front() {
            if transaction > durable {
                return;
            }
            self.waiting.pop_front();
            self.has_ended(started, *now.get_or_insert_with(Instant::now));
        }
    }

    fn has_ended(&mut self, started: Instant, ended: Instant) {
        record(&mut self.timed.latencies, ended - started);
        self.done += 1;
        self.member.report_progress(self.done);
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
