//! Phases, one after the other, and whether the log tells what they did.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use iostudy_latency::{Latencies, empty_latencies, merge};

use crate::error::{Dropped, Error};
use crate::job::Job;
use crate::mutation::Mutation;
use crate::namespace::Namespace;
use crate::operation::{Files, Operation, Paths};
use crate::progress::{Done, Waits};
use crate::recovery::recover;
use crate::tree::Tree;
use crate::worker::{Halt, LONGEST_WAIT, PoolWorker, Timed, Worker};

/// What was measured in one phase.
#[derive(Debug, Clone)]
pub struct Phase {
    /// What was done to every file.
    pub operation: Operation,
    /// From the first start to the last acknowledgement.
    pub wall: Duration,
    /// How long each operation took, to its acknowledgement, in nanoseconds.
    pub latencies: Latencies,
    /// What the log did meanwhile.
    pub log: Done,
    /// How long the workers waited, all of them together.
    pub waits: Waits,
    /// How long they wrote images, all of them together.
    pub checkpoints: Duration,
}

/// What a job did.
#[derive(Debug)]
pub struct Outcome {
    /// One for each operation, in their order.
    pub phases: Vec<Phase>,
    /// The log directories that failed meanwhile.
    pub dropped: Vec<Dropped>,
    served: Served,
}

/// Carry out a job. [`Outcome::verify`] compares what the log tells with the tree that was served.
///
/// `tick` is called about every 50 ms on the calling thread with the operations done so far; once
/// it says no, every worker stops. What was written stays, also after an error.
///
/// # Errors
///
/// The first error of any worker.
///
/// # Panics
///
/// If the job is not valid; see [`Job::validate`].
pub fn run(job: &Job, mut tick: impl FnMut(u64) -> bool) -> Result<Outcome, Error> {
    job.validate().expect("a job is validated before it is run");
    let namespace = Namespace::format(job.log.clone())?;
    let mut files = make_ready(job, &namespace, || tick(0))?;
    let mut phases = Vec::with_capacity(job.operations.len());
    let mut done_before = 0;
    for operation in job.operations.iter().copied() {
        let doing = (operation, files);
        let phase = carry_out(job, &namespace, doing, |done| tick(done_before + done))?;
        done_before += phase.latencies.len();
        phases.push(phase);
        files = files.after(operation).expect("the order was validated");
    }
    let (served, dropped) = namespace.close()?;
    Ok(Outcome {
        phases,
        dropped,
        served: Served(Mutex::new(Known::Tree(served))),
    })
}

/// Make the directories, and the files where the first phase needs them.
fn make_ready(
    job: &Job,
    namespace: &Namespace,
    mut go_on: impl FnMut() -> bool,
) -> Result<Files, Error> {
    make_directories(job, namespace, &mut go_on)?;
    let files = job.files_before();
    if files == Files::Created {
        carry_out(job, namespace, (Operation::Create, Files::None), |_| {
            go_on()
        })?;
    }
    Ok(files)
}

/// Make the directories, and wait until the last is durable: no phase shall count them.
fn make_directories(
    job: &Job,
    namespace: &Namespace,
    mut go_on: impl FnMut() -> bool,
) -> Result<(), Error> {
    let (mut paths, mut waits) = (Paths::default(), Waits::default());
    let mut last = 0;
    for number in 0..=job.directory_of(job.files - 1) {
        let path = paths.directory(number);
        last = namespace.change(&Mutation::Mkdir { path, at_ms: 0 }, &mut waits)?;
    }
    while namespace.wait_for(last, LONGEST_WAIT, &mut waits)? < last {
        if !go_on() {
            return Err(Error::Stopped);
        }
    }
    Ok(())
}

fn carry_out(
    job: &Job,
    namespace: &Namespace,
    (operation, files): (Operation, Files),
    tick: impl FnMut(u64) -> bool,
) -> Result<Phase, Error> {
    let work = |member: &PoolWorker| -> Result<Timed, Halt> {
        member.wait_for_start();
        Worker::start(job, namespace, member).carry_out(operation, files)
    };
    let before = namespace.done();
    let times = iostudy_worker_pool::run(job.workers, work, tick)?;
    let log = namespace.done().since(&before);
    Ok(told(operation, log, &times))
}

fn told(operation: Operation, log: Done, times: &[Timed]) -> Phase {
    let started = times.iter().map(|timed| timed.started).min();
    let ended = times.iter().map(|timed| timed.ended).max();
    let mut phase = Phase {
        operation,
        wall: ended
            .zip(started)
            .map_or(Duration::ZERO, |(ended, started)| ended - started),
        latencies: empty_latencies(),
        log,
        waits: Waits::default(),
        checkpoints: Duration::ZERO,
    };
    for timed in times {
        merge(&mut phase.latencies, &timed.latencies);
        phase.waits.lock += timed.waits.lock;
        phase.waits.buffer += timed.waits.buffer;
        phase.waits.sync += timed.waits.sync;
        phase.checkpoints += timed.checkpoints;
    }
    phase
}

impl Outcome {
    /// Check that every log directory of the job that is left tells the tree that was served.
    ///
    /// # Errors
    ///
    /// As [`recover`]'s; [`Error::Differs`] if a log does not tell what was done, and
    /// [`Error::NotWhole`] if it tells it although something of it is damaged.
    pub fn verify(&self, job: &Job) -> Result<(), Error> {
        let served = self.served.digest();
        for directory in &job.log.directories {
            if self.dropped.iter().any(|one| one.directory == *directory) {
                continue;
            }
            let told = recover(std::slice::from_ref(directory))?;
            if !told.findings.is_empty() {
                return Err(Error::NotWhole(told.findings));
            }
            if told.tree.digest() != served {
                return Err(Error::Differs {
                    transactions: told.last,
                });
            }
        }
        Ok(())
    }
}

/// The tree that was served, until its digest is asked for: memory shall hold one tree at a time.
#[derive(Debug)]
struct Served(Mutex<Known>);

#[derive(Debug)]
enum Known {
    Tree(Tree),
    Digest(u64),
}

impl Served {
    fn digest(&self) -> u64 {
        let mut served = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = match &*served {
            Known::Tree(tree) => tree.digest(),
            Known::Digest(digest) => *digest,
        };
        *served = Known::Digest(digest);
        digest
    }
}
