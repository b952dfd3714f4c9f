//! The synchronous backend: one record after the other.

use std::io;
use std::time::Instant;

use iostudy_crew::nap;
use iostudy_pattern::AlignedBuffer;

use crate::backend::Backend;
use crate::calls::Calls;
use crate::contents::Contents;
use crate::error::{Fault, FileFault, Halt};
use crate::feed::{Feed, Next, Task};
use crate::files::Files;
use crate::job::Job;
use crate::meter::{Direction, Meter};
use crate::turn::SyncTurn;

pub(crate) struct Psync<C> {
    calls: C,
    contents: Contents,
    incoming: AlignedBuffer,
    turn: SyncTurn,
}

impl<C: Calls> Psync<C> {
    /// With the buffers that a thread of the job needs.
    pub(crate) fn new(job: &Job, thread: usize, calls: C) -> io::Result<Self> {
        let incoming_bytes = if job.operation.reads() {
            job.record_bytes
        } else {
            0
        };
        Ok(Self {
            calls,
            contents: Contents::new(job, thread)?,
            incoming: AlignedBuffer::new(incoming_bytes)?,
            turn: SyncTurn::new(job),
        })
    }

    #[inline]
    fn move_record(&mut self, files: &Files, task: Task) -> Result<(), Fault> {
        let (index, file, offset) = (task.file, files.get(task.file), task.record.offset);
        match task.direction {
            Direction::Write => {
                let data = self.contents.outgoing(index, task.record);
                self.calls.write(index, file, data, offset)
            }
            Direction::Read => {
                let data = &mut self.incoming[..task.record.len];
                let found = self.calls.read(index, file, data, offset)?;
                self.contents.verify(index, task.record, &data[..found])
            }
        }
    }
}

impl<C: Calls> Backend for Psync<C> {
    fn carry_out(&mut self, files: &Files, feed: &mut Feed, meter: &mut Meter) -> Result<(), Halt> {
        let mut now = Instant::now();
        loop {
            meter.go_on()?;
            match feed.next(now) {
                Next::End => return Ok(self.calls.finish()?),
                Next::Wait(until) => now = sleep_towards(until),
                Next::Begin(task) => {
                    self.move_record(files, task)
                        .map_err(FileFault::of(task.file))?;
                    now = Instant::now();
                    meter.moved(task.direction, task.due, task.record.len, now);
                    if let Some(call) = self.turn.after(task.direction) {
                        now = files.sync_one(task.file, call, now, meter)?;
                    }
                    feed.ended(now);
                }
            }
        }
    }
}

/// Sleep until then, but not so long that a stop goes unheard; the time after it.
pub(crate) fn sleep_towards(until: Instant) -> Instant {
    nap(until.saturating_duration_since(Instant::now()));
    Instant::now()
}
