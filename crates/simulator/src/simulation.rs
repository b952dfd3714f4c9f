//! The closed loop of threads, page cache and device.

use std::cmp::Reverse;
use std::ops::Range;

use iostudy_schedulers::Nanos;

use crate::device::{Completed, Purpose, SimulationError};
use crate::figures::Figures;
use crate::state::{Experiment, START, Simulation};
use crate::volume::Volume;

/// Events between two calls of the caller's tick.
const EVENTS_PER_TICK: u64 = 10_000;

impl Experiment {
    /// Run the simulation until all jobs that do not repeat have ended.
    ///
    /// `tick` gets the number of events now and then, and returns false to stop.
    ///
    /// # Errors
    ///
    /// A [`SimulationError`].
    pub fn run(&mut self, tick: &mut dyn FnMut(u64) -> bool) -> Result<Figures, SimulationError> {
        let (layout, settings) = (self.layout, self.settings);
        let last = self.last.as_ref().unwrap_or(&self.drive);
        let drives = (&self.drive, last);
        let mut device = Volume::new(layout, settings, START, self.scheduler, drives);
        for (name, text) in &self.tunables {
            device.write_tunable(name, text)?;
        }
        let mut simulation = Simulation::new(self, device);
        for job in 0..simulation.experiment.jobs.len() {
            simulation.start_job(job);
        }
        while simulation.running > 0 {
            if simulation.events % EVENTS_PER_TICK == 0 && !tick(simulation.events) {
                return Err(SimulationError::Stopped);
            }
            simulation.step()?;
        }
        Ok(simulation.finish())
    }
}

impl Simulation<'_> {
    /// Completions, wake-ups, write-back, timers and dispatches of the next instant.
    fn step(&mut self) -> Result<(), SimulationError> {
        let time = self.next_event()?;
        self.device.advance(time);
        self.now = time;
        self.complete();
        self.device.submit_waiting();
        while let Some(&Reverse((at, _, lane))) = self.wake_ups.peek()
            && at <= time
        {
            self.wake_ups.pop();
            self.advance(lane);
        }
        if time >= self.next_check {
            self.next_check += self.experiment.host.dirty_writeback;
            self.look_for_old_pages();
        }
        self.flush();
        self.device.dispatch()?;
        self.events += 1;
        Ok(())
    }

    fn next_event(&self) -> Result<Nanos, SimulationError> {
        let wake_up = self.wake_ups.peek().map(|&Reverse((time, ..))| time);
        let Some(next) = [wake_up, self.device.next_event()]
            .into_iter()
            .flatten()
            .min()
        else {
            return Err(SimulationError::Stalled {
                time: self.elapsed(),
            });
        };
        Ok(next.min(self.next_check).max(self.now))
    }

    fn complete(&mut self) {
        let mut completed = Vec::new();
        self.device.complete(&mut completed);
        for own in completed {
            match own {
                Completed::Flush(lane) => self.wake(lane, 0),
                Completed::Bio(Purpose::Direct(lane)) => self.complete_direct(lane),
                Completed::Bio(Purpose::Part(..)) => {
                    unreachable!("a volume completes whole bios")
                }
                Completed::Bio(Purpose::Fill(file, pages)) => {
                    for lane in self.cache.end_fill(file, pages) {
                        self.wake(lane, 0);
                    }
                }
                Completed::Bio(Purpose::WriteBack(file, pages)) => {
                    self.complete_write_back(file, &pages);
                }
            }
        }
    }

    fn complete_write_back(&mut self, file: usize, pages: &Range<u64>) {
        for lane in self.cache.end_write_back(file, pages) {
            self.wake(lane, 0);
        }
        self.wake_throttled();
    }

    fn finish(self) -> Figures {
        let threads = &self.figures;
        Figures {
            duration: self.elapsed(),
            device: self.device.counters(),
            drives: self.device.drives(),
            jobs: self
                .jobs
                .into_iter()
                .map(|job| job.finish(threads))
                .collect(),
            events: self.events,
        }
    }
}
