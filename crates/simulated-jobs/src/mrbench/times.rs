//! Steps of simulated jobs of `MRBench`, and their times.

use std::time::Duration;

use iostudy_simulator::{Round, TimedStep};

use super::layout::MrBench;
use crate::terasort::index;

/// Kind of a step. Those of the job itself are no part of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStep {
    JobCreate,
    JobCommit,
    JobClean,
    TaskStart,
    TaskRead,
    TaskCreate,
    TaskCommit,
    TaskEnd,
}

impl JobStep {
    const ALL: [Self; 8] = [
        Self::JobCreate,
        Self::JobCommit,
        Self::JobClean,
        Self::TaskStart,
        Self::TaskRead,
        Self::TaskCreate,
        Self::TaskCommit,
        Self::TaskEnd,
    ];

    /// Name of a storage operation; none of other steps.
    const fn operation(self) -> Option<&'static str> {
        match self {
            Self::JobCreate | Self::TaskCreate => Some("create"),
            Self::JobCommit | Self::TaskCommit => Some("commit"),
            Self::TaskRead => Some("read"),
            Self::JobClean | Self::TaskStart | Self::TaskEnd => None,
        }
    }

    const fn is_of_job(self) -> bool {
        matches!(self, Self::JobCreate | Self::JobCommit | Self::JobClean)
    }

    /// Label of this step of a job.
    pub const fn label(self, job: u64) -> u64 {
        job * Self::ALL.len() as u64 + self as u64
    }
}

/// Times of a job.
#[derive(Clone, Debug, Default)]
pub struct JobTimes {
    /// Time from its start to its end.
    pub wall: Duration,
    /// Times from the start of each process to its first line.
    pub starts: Vec<Duration>,
    /// Storage operations by their names.
    pub operations: Vec<(&'static str, Duration)>,
    /// Life of all tasks, and the storage operations of the job itself.
    pub busy: Duration,
}

/// Times of the jobs of a round.
pub fn result(bench: &MrBench, round: &Round) -> Vec<JobTimes> {
    let steps = round.threads.iter().map(|thread| &thread.timed_steps);
    let mut by_job = vec![Vec::new(); index(bench.jobs)];
    for step in steps.flatten() {
        let (job, kind) = decode(step.label);
        by_job[job].push((kind, step));
    }
    by_job.iter().map(|steps| times(steps)).collect()
}

/// The job of a label, and its step.
fn decode(label: u64) -> (usize, JobStep) {
    let count = JobStep::ALL.len() as u64;
    (index(label / count), JobStep::ALL[index(label % count)])
}

/// Times of a job from its steps, which are in the order of their threads.
fn times(steps: &[(JobStep, &TimedStep)]) -> JobTimes {
    let mut times = JobTimes::default();
    for (step, timed) in steps {
        let seconds = Duration::from_nanos(timed.ended - timed.began);
        if let Some(name) = step.operation() {
            times.operations.push((name, seconds));
        }
        match step {
            JobStep::TaskStart => times.starts.push(seconds),
            JobStep::TaskEnd | JobStep::JobClean => continue,
            _ => {}
        }
        times.busy += seconds;
    }
    let own = steps.iter().filter(|(step, _)| step.is_of_job());
    let began = own.clone().map(|(_, timed)| timed.began).min();
    let ended = own.map(|(_, timed)| timed.ended).max();
    times.wall = Duration::from_nanos(ended.unwrap_or(0) - began.unwrap_or(0));
    times
}
