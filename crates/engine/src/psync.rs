//! Synchronous backend with one record at a time.

use std::io;
use std::time::Instant;

use iostudy_pattern::AlignedBuffer;
use iostudy_worker_pool::bounded_sleep;

use crate::error::{Fault, FileFault, Halt};
use crate::files::Files;
use crate::job::Job;
use crate::meter::Backend;
use crate::meter::Direction;
use crate::meter::Meter;
use crate::record_content::RecordContent;
use crate::request_source::{NextRequest, Request, RequestSource};
use crate::sync_io::SyncIo;
use crate::sync_io::SyncSchedule;

pub(crate) struct Psync<C> {
    sync_io: C,
    content: RecordContent,
    incoming: AlignedBuffer,
    sync_schedule: SyncSchedule,
}

impl<C: SyncIo> Psync<C> {
    /// Allocate the buffers of a thread of the job.
    pub(crate) fn new(job: &Job, thread: usize, sync_io: C) -> io::Result<Self> {
        let incoming_bytes = if job.operation.reads() {
            job.record_bytes
        } else {
            0
        };
        Ok(Self {
            sync_io,
            content: RecordContent::new(job, thread)?,
            incoming: AlignedBuffer::new(incoming_bytes)?,
            sync_schedule: SyncSchedule::new(job),
        })
    }

    #[inline]
    fn transfer(&mut self, files: &Files, request: Request) -> Result<(), Fault> {
        let (index, file, offset) = (request.file, files.get(request.file), request.record.offset);
        match request.direction {
            Direction::Write => {
                let data = self.content.write_data(index, request.record);
                self.sync_io.write(index, file, data, offset)
            }
            Direction::Read => {
                let data = &mut self.incoming[..request.record.len];
                let found = self.sync_io.read(index, file, data, offset)?;
                self.content.verify(index, request.record, &data[..found])
            }
        }
    }
}

impl<C: SyncIo> Backend for Psync<C> {
    fn run(
        &mut self,
        files: &Files,
        requests: &mut RequestSource,
        meter: &mut Meter,
    ) -> Result<(), Halt> {
        let mut now = Instant::now();
        loop {
            meter.check_stop()?;
            match requests.next(now) {
                NextRequest::End => return Ok(self.sync_io.finish()?),
                NextRequest::Wait(until) => {
                    now = bounded_sleep_until(until);
                    meter.advance(now);
                }
                NextRequest::Issue(request) => {
                    self.transfer(files, request)
                        .map_err(FileFault::in_file(request.file))?;
                    now = Instant::now();
                    meter.record_transfer(request.direction, request.due, request.record.len, now);
                    if let Some(call) = self.sync_schedule.after(request.direction) {
                        now = files.sync_one(request.file, call, now, meter)?;
                    }
                    requests.complete(now);
                }
            }
        }
    }
}

/// Sleep until `until`, but at most for one tick interval. Return the time after it.
pub(crate) fn bounded_sleep_until(until: Instant) -> Instant {
    bounded_sleep(until.saturating_duration_since(Instant::now()));
    Instant::now()
}
