//! One job from its start to its end.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use iostudy_crew as crew;
use iostudy_engine::{Fault, read_at};
use iostudy_files::open;
use iostudy_latency::{Latencies, no_latencies, note};
use iostudy_pattern::{AlignedBuffer, Content, Record};
use rustix::fs::OFlags;

use crate::compute::is_past;
use crate::fetched::fetched_bytes;
use crate::workload::Workload;

pub(crate) type Member<'a> = crew::Member<'a, JobResult, Fault>;
pub(crate) type Halt = crew::Halt<Fault>;

/// What was measured of one job.
pub(crate) struct JobResult {
    /// Events that were read and computed in time.
    pub(crate) events: u64,
    /// All bytes read, those of an event that was not ended included.
    pub(crate) read_bytes: u64,
    pub(crate) fetched_bytes: Option<u64>,
    pub(crate) started: Instant,
    /// When the last event ended, or the time was up.
    pub(crate) ended: Instant,
    /// How long it took to read each event that counts.
    pub(crate) latencies: Latencies,
}

/// A job at work.
struct Worker<'a> {
    workload: &'a Workload,
    content: &'a Content,
    member: &'a Member<'a>,
    buffer: AlignedBuffer,
    file: OwnedFd,
    deadline: Option<Instant>,
    read_bytes: u64,
}

/// Wait for the others, then work until time or events run out.
pub(crate) fn work(
    workload: &Workload,
    content: &Content,
    member: &Member,
) -> Result<JobResult, Halt> {
    let longest = workload.layout.longest_piece(workload.grain_bytes());
    let buffer =
        AlignedBuffer::new(longest).map_err(|error: io::Error| Fault::no_memory(&error))?;
    member.ready();
    member.go_on()?;
    let fetched_before = fetched_bytes();
    let started = Instant::now();
    let deadline = workload.time.and_then(|time| started.checked_add(time));
    let mut worker = Worker {
        workload,
        content,
        member,
        buffer,
        file: open_file(workload, member.index())?,
        deadline,
        read_bytes: 0,
    };
    let latencies = worker.all_events()?;
    let now = Instant::now();
    Ok(JobResult {
        events: latencies.len(),
        read_bytes: worker.read_bytes,
        fetched_bytes: fetched_since(fetched_before),
        started,
        ended: deadline.map_or(now, |deadline| deadline.min(now)),
        latencies,
    })
}

fn fetched_since(before: Option<u64>) -> Option<u64> {
    Some(fetched_bytes()?.saturating_sub(before?))
}

fn open_file(workload: &Workload, job: usize) -> Result<OwnedFd, Fault> {
    let mut flags = OFlags::RDONLY;
    flags.set(OFlags::DIRECT, workload.direct);
    open(workload.path_of(job), flags).map_err(Fault::of("open", 0))
}

impl Worker<'_> {
    /// One event after the other; how long it took to read each that ended in time.
    fn all_events(&mut self) -> Result<Latencies, Halt> {
        let mut latencies = no_latencies();
        let first = self.workload.first_event_of(self.member.index());
        for event in first..first + self.workload.events_per_job {
            let Some(reading) = self.one_event(event)? else {
                break;
            };
            note(&mut latencies, reading);
        }
        Ok(latencies)
    }

    /// Read an event and compute; how long the reading took, or nothing if the time was up before.
    fn one_event(&mut self, event: u64) -> Result<Option<Duration>, Halt> {
        let started = Instant::now();
        let (layout, grain) = (self.workload.layout, self.workload.grain_bytes());
        for piece in layout.pieces(self.workload.seed, event, grain) {
            if !self.may_go_on()? {
                return Ok(None);
            }
            self.read(piece)?;
        }
        let reading = started.elapsed();
        let computed = self.workload.compute.carry_out(|| self.may_go_on())?;
        Ok((computed && !is_past(self.deadline)).then_some(reading))
    }

    /// Whether there is time left.
    fn may_go_on(&self) -> Result<bool, Halt> {
        self.member.go_on()?;
        Ok(!is_past(self.deadline))
    }

    /// Read a piece and verify it.
    fn read(&mut self, piece: Record) -> Result<(), Fault> {
        let data = &mut self.buffer[..piece.len];
        let found = read_at(self.file.as_fd(), data, piece.offset)?;
        self.read_bytes += found as u64;
        self.member.has_done(self.read_bytes);
        let file = self.workload.file_of(self.member.index()) as u64;
        let data = &self.buffer[..found];
        if let Some(at) = self.content.first_difference(file, piece.offset, data) {
            return Err(Fault::Differs { at });
        }
        if found < piece.len {
            return Err(Fault::EndsEarly {
                at: piece.offset + found as u64,
                expected: self.workload.file_bytes(),
            });
        }
        Ok(())
    }
}
