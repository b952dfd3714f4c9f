//! The synchronous backend: one record after the other.

use std::io;
use std::os::fd::BorrowedFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

use iostudy_pattern::AlignedBuffer;
use rustix::fs::{SeekFrom, seek};
use rustix::io::{Errno, pread, pwrite, read, retry_on_intr, write};

use crate::backend::Backend;
use crate::contents::Contents;
use crate::error::{Fault, FileFault, Halt};
use crate::feed::{Feed, Next, Task};
use crate::files::Files;
use crate::job::{Job, Method, Sync};
use crate::meter::{Direction, Meter};

/// The longest that a thread does not look whether it is to stop.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

pub(crate) struct Psync {
    contents: Contents,
    incoming: AlignedBuffer,
    sync: Option<Sync>,
    seeks: Option<Seeks>,
    written: u64,
}

/// Where each file's position is, for the calls that have no offset.
struct Seeks(Vec<u64>);

impl Psync {
    /// With the buffers that a thread of the job needs.
    pub(crate) fn new(job: &Job, thread: usize) -> io::Result<Self> {
        let incoming_bytes = if job.operation.reads() {
            job.record_bytes
        } else {
            0
        };
        Ok(Self {
            contents: Contents::new(job, thread)?,
            incoming: AlignedBuffer::new(incoming_bytes)?,
            sync: job.sync.filter(|sync| sync.every_records > 0),
            seeks: match job.method {
                Method::Positioned => None,
                Method::Seek => Some(Seeks(vec![0; job.threads[thread].len()])),
            },
            written: 0,
        })
    }

    fn move_record(&mut self, file: BorrowedFd, task: Task) -> Result<(), Fault> {
        let offset = task.record.offset;
        let seeks = self.seeks.as_mut();
        match task.direction {
            Direction::Write => {
                let data = self.contents.outgoing(task.file, task.record);
                match seeks {
                    None => write_all(data, offset, "pwrite", |data, at| pwrite(file, data, at)),
                    Some(seeks) => {
                        seeks.go_to(file, task)?;
                        write_all(data, offset, "write", |data, _| write(file, data))
                    }
                }
            }
            Direction::Read => {
                let data = &mut self.incoming[..task.record.len];
                let found = match seeks {
                    None => read_all(data, offset, "pread", |data, at| pread(file, data, at)),
                    Some(seeks) => {
                        seeks.go_to(file, task)?;
                        read_all(data, offset, "read", |data, _| read(file, data))
                    }
                }?;
                self.contents.verify(task.file, task.record, &data[..found])
            }
        }
    }

    /// Sync if as many records are written as the job wants before one; the time then.
    fn sync_in_time(
        &mut self,
        files: &Files,
        task: Task,
        now: Instant,
        meter: &mut Meter,
    ) -> Result<Instant, Halt> {
        let Some(sync) = self.sync.filter(|_| task.direction == Direction::Write) else {
            return Ok(now);
        };
        self.written += 1;
        if self.written % sync.every_records != 0 {
            return Ok(now);
        }
        Ok(files.sync_one(task.file, sync.call, now, meter)?)
    }
}

impl Backend for Psync {
    fn carry_out(&mut self, files: &Files, feed: &mut Feed, meter: &mut Meter) -> Result<(), Halt> {
        let mut now = Instant::now();
        loop {
            meter.go_on()?;
            match feed.next(now) {
                Next::End => return Ok(()),
                Next::Wait(until) => now = sleep_towards(until),
                Next::Begin(task) => {
                    self.move_record(files.get(task.file), task)
                        .map_err(FileFault::of(task.file))?;
                    now = meter.moved(task.direction, task.due, task.record.len);
                    now = self.sync_in_time(files, task, now, meter)?;
                    feed.ended(now);
                }
            }
        }
    }
}

/// Sleep until then, but not so long that a stop goes unheard; the time after it.
pub(crate) fn sleep_towards(until: Instant) -> Instant {
    sleep(
        until
            .saturating_duration_since(Instant::now())
            .min(LONGEST_SLEEP),
    );
    Instant::now()
}

impl Seeks {
    fn go_to(&mut self, file: BorrowedFd, task: Task) -> Result<(), Fault> {
        let (position, offset) = (&mut self.0[task.file], task.record.offset);
        if *position != offset {
            seek(file, SeekFrom::Start(offset)).map_err(Fault::of("lseek", offset))?;
        }
        *position = offset + task.record.len as u64;
        Ok(())
    }
}

/// The kernel may take less than it is given; then it is asked again for the rest.
fn write_all(
    mut data: &[u8],
    mut offset: u64,
    call: &'static str,
    write: impl Fn(&[u8], u64) -> Result<usize, Errno>,
) -> Result<(), Fault> {
    while !data.is_empty() {
        let written = match retry_on_intr(|| write(data, offset)) {
            Ok(0) => Err(Errno::IO), // nothing taken and no reason given: it would go on for ever
            other => other,
        }
        .map_err(Fault::of(call, offset))?;
        data = &data[written..];
        offset += written as u64;
    }
    Ok(())
}

/// Fill `data` as far as the file goes; the number of bytes read.
fn read_all(
    data: &mut [u8],
    offset: u64,
    call: &'static str,
    read: impl Fn(&mut [u8], u64) -> Result<usize, Errno>,
) -> Result<usize, Fault> {
    let mut found = 0;
    while found < data.len() {
        let at = offset + found as u64;
        let count = retry_on_intr(|| read(&mut data[found..], at)).map_err(Fault::of(call, at))?;
        if count == 0 {
            break;
        }
        found += count;
    }
    Ok(found)
}
