//! Rounds of the jobs of a simulation.

use crate::figures::{JobFigures, Round, ThreadFigures};
use crate::state::{JobRun, Lane, START, Simulation};

impl Simulation<'_> {
    /// Begin the first round of a job.
    pub(crate) fn start_job(&mut self, job: usize) {
        let own = &mut self.experiment.jobs[job];
        let (first, first_lane) = (self.threads.len(), self.lanes.len());
        self.threads.extend((own.threads)());
        self.running += usize::from(!own.repeats);
        for (thread, own) in self.threads.iter().enumerate().skip(first) {
            let outstanding = own.outstanding.max(1);
            self.lanes
                .extend((0..outstanding).map(|_| Lane::new(job, thread)));
        }
        self.jobs.push(JobRun {
            began: self.now,
            threads: first..self.threads.len(),
            lanes: first_lane..self.lanes.len(),
            running: 0,
            parked: Vec::new(),
            figures: JobFigures::default(),
        });
        self.figures
            .resize_with(self.threads.len(), || ThreadFigures::new(START));
        self.start_round(job);
    }

    /// Let the threads of a job begin. A job without threads ends at once.
    fn start_round(&mut self, job: usize) {
        let (own, ramp) = (&mut self.jobs[job], self.experiment.jobs[job].ramp);
        own.began = self.now;
        own.running = own.lanes.len();
        let (threads, lanes) = (own.threads.clone(), own.lanes.clone());
        for thread in threads {
            let start = self.now + self.threads[thread].start;
            self.figures[thread] = ThreadFigures::new(start.max(self.now + ramp));
        }
        for lane in lanes.clone() {
            let start = self.threads[self.lanes[lane].thread].start;
            self.wake(lane, start);
        }
        if lanes.is_empty() {
            self.end_round(job);
        }
    }

    /// Whether figures of a lane count yet.
    pub(crate) fn is_measured(&self, lane: usize) -> bool {
        let job = self.lanes[lane].job;
        self.now >= self.jobs[job].began + self.experiment.jobs[job].ramp
    }

    /// Let a lane wait for the others of its job.
    pub(crate) fn park(&mut self, lane: usize) {
        let job = self.lanes[lane].job;
        self.jobs[job].parked.push(lane);
        self.release(job);
    }

    /// Wake the waiting lanes of a job if no other lane is left.
    fn release(&mut self, job: usize) {
        let own = &mut self.jobs[job];
        if own.parked.len() == own.running {
            for lane in std::mem::take(&mut own.parked) {
                self.wake(lane, 0);
            }
        }
    }

    /// A lane has nothing more to do.
    pub(crate) fn end_lane(&mut self, lane: usize) {
        let Lane { job, thread, .. } = self.lanes[lane];
        self.figures[thread].ended = self.now;
        let source = &mut self.threads[thread].source;
        self.figures[thread].phases = source.phases();
        self.figures[thread].timed_steps = source.timed_steps();
        self.jobs[job].running -= 1;
        if self.jobs[job].running == 0 {
            self.end_round(job);
        } else {
            self.release(job);
        }
    }

    /// Record a complete round, and begin the next one of a job that repeats.
    fn end_round(&mut self, job: usize) {
        let threads = self.jobs[job].threads.clone();
        let figures = self.figures[threads.clone()].iter().map(settle);
        let round = Round {
            began: self.jobs[job].began - START,
            ended: self.now - START,
            threads: figures.collect(),
        };
        self.jobs[job].figures.rounds.push(round);
        let own = &mut self.experiment.jobs[job];
        if !own.repeats {
            self.running -= 1;
            return;
        }
        for (place, thread) in self.threads[threads].iter_mut().zip((own.threads)()) {
            *place = thread;
        }
        for file in own.files.clone() {
            self.cache.forget(file);
            self.forget_changes(file);
        }
        self.wake_throttled();
        self.start_round(job);
    }
}

/// Times from the start of the simulation.
fn settle(figures: &ThreadFigures) -> ThreadFigures {
    let started = figures.started - START;
    ThreadFigures {
        started,
        ended: figures.ended.saturating_sub(START).max(started),
        records_ended: figures.records_ended.saturating_sub(START),
        ..figures.clone()
    }
}
