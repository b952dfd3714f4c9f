//! Execution of one job.

use std::fs::read_to_string;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use iostudy_engine::{Fault, read_at};
use iostudy_files::open;
use iostudy_latency::{IoStats, Latencies, empty_latencies, record};
use iostudy_pattern::{AlignedBuffer, Content, Record};
use iostudy_windows::{Counts, WindowCursor, WindowLog};
use iostudy_worker_pool as worker_pool;
use rustix::fs::OFlags;

use crate::compute::is_past;
use crate::workload::Workload;

pub(crate) type Worker<'a> = worker_pool::Worker<'a, Fault>;
pub(crate) type Halt = worker_pool::Halt<Fault>;

/// Measurements of one job.
pub(crate) struct JobResult {
    /// Number of events read and computed in time.
    pub(crate) events: u64,
    /// Bytes read, including those of an unfinished event.
    pub(crate) read_bytes: u64,
    pub(crate) fetched_bytes: Option<u64>,
    pub(crate) started: Instant,
    /// End of the last event, or the deadline.
    pub(crate) ended: Instant,
    /// Read latencies of counted events.
    pub(crate) latencies: Latencies,
}

/// State of a running job.
struct JobRunner<'a> {
    workload: &'a Workload,
    content: &'a Content,
    worker: &'a Worker<'a>,
    buffer: AlignedBuffer,
    file: OwnedFd,
    deadline: Option<Instant>,
    read_bytes: u64,
    /// Read latencies of events that ended in time.
    latencies: Latencies,
    windows: WindowCursor<'a>,
}

/// Wait for the start, then process events until the deadline or the last event; with windows
/// again and again.
pub(crate) fn run_worker(
    workload: &Workload,
    content: &Content,
    windows: Option<&WindowLog>,
    worker: &Worker,
) -> Result<JobResult, Halt> {
    let longest = workload.layout.max_piece_bytes(workload.unit_bytes());
    let buffer =
        AlignedBuffer::new(longest).map_err(|error: io::Error| Fault::out_of_memory(&error))?;
    worker.wait_for_start();
    worker.check_stop()?;
    let fetched_before = fetched_bytes();
    let started = Instant::now();
    let deadline = workload.time.and_then(|time| started.checked_add(time));
    let mut worker = JobRunner {
        workload,
        content,
        worker,
        buffer,
        file: open_file(workload, worker.index())?,
        deadline,
        read_bytes: 0,
        latencies: empty_latencies(),
        windows: windows.map_or_else(WindowCursor::without_log, WindowLog::cursor),
    };
    while worker.run_events()? && windows.is_some() {}
    let now = Instant::now();
    Ok(JobResult {
        events: worker.latencies.len(),
        read_bytes: worker.read_bytes,
        fetched_bytes: fetched_since(fetched_before),
        started,
        ended: deadline.map_or(now, |deadline| deadline.min(now)),
        latencies: worker.latencies,
    })
}

/// Counts of a window: whole events.
fn counts(latencies: &Latencies, event_bytes: u64) -> Counts {
    vec![IoStats {
        bytes: latencies.len() * event_bytes,
        latencies: latencies.clone(),
    }]
}

fn fetched_since(before: Option<u64>) -> Option<u64> {
    Some(fetched_bytes()?.saturating_sub(before?))
}

fn open_file(workload: &Workload, job: usize) -> Result<OwnedFd, Fault> {
    let mut flags = OFlags::RDONLY;
    flags.set(OFlags::DIRECT, workload.direct);
    open(workload.path(job), flags).map_err(Fault::in_call("open", 0))
}

impl JobRunner<'_> {
    /// Process events in order. Return whether all ended in time.
    fn run_events(&mut self) -> Result<bool, Halt> {
        let first = self.workload.first_event(self.worker.index());
        for event in first..first + self.workload.events_per_job {
            let Some(reading) = self.run_event(event)? else {
                return Ok(false);
            };
            self.advance_windows();
            record(&mut self.latencies, reading);
        }
        Ok(true)
    }

    /// Note the time for the windows.
    fn advance_windows(&mut self) {
        let event_bytes = self.workload.layout.event_bytes as u64;
        self.windows
            .advance(Instant::now(), || counts(&self.latencies, event_bytes));
    }

    /// Read an event and compute. Return the read latency, or `None` if the deadline passed.
    fn run_event(&mut self, event: u64) -> Result<Option<Duration>, Halt> {
        let started = Instant::now();
        let (layout, unit) = (self.workload.layout, self.workload.unit_bytes());
        for piece in layout.pieces(self.workload.seed, event, unit) {
            if !self.has_time_left()? {
                return Ok(None);
            }
            self.read(piece)?;
        }
        let reading = started.elapsed();
        let computed = self.workload.compute.run_to_end(|| self.has_time_left())?;
        Ok((computed && !is_past(self.deadline)).then_some(reading))
    }

    /// Whether the deadline is in the future.
    fn has_time_left(&mut self) -> Result<bool, Halt> {
        self.worker.check_stop()?;
        self.advance_windows();
        Ok(!is_past(self.deadline))
    }

    /// Read a piece and verify it.
    fn read(&mut self, piece: Record) -> Result<(), Fault> {
        let data = &mut self.buffer[..piece.len];
        let found = read_at(self.file.as_fd(), data, piece.offset)?;
        self.read_bytes += found as u64;
        self.worker.report_progress(self.read_bytes);
        let file = self.workload.file_index(self.worker.index()) as u64;
        let data = &self.buffer[..found];
        if let Some(at) = self.content.first_difference(file, piece.offset, data) {
            return Err(Fault::DataMismatch { at });
        }
        if found < piece.len {
            return Err(Fault::UnexpectedEof {
                at: piece.offset + found as u64,
                expected: self.workload.file_bytes(),
            });
        }
        Ok(())
    }
}

const PATH: &str = "/proc/thread-self/io";

/// Bytes fetched for this thread since it started; `None` where the kernel has no I/O accounting.
pub(crate) fn fetched_bytes() -> Option<u64> {
    parse(&read_to_string(PATH).ok()?)
}

fn parse(text: &str) -> Option<u64> {
    let value = |line: &str| line.strip_prefix("read_bytes:")?.trim().parse().ok();
    text.lines().find_map(value)
}

#[cfg(test)]
mod fetched_bytes_tests {
    use super::parse;

    #[test]
    fn the_line_is_found_among_the_others() {
        let text = "rchar: 1\nsyscr: 3\nread_bytes: 4096\nwrite_bytes: 5\n";
        assert_eq!(parse(text), Some(4096));
        assert_eq!(parse("rchar: 1\n"), None);
        assert_eq!(parse("read_bytes: many\n"), None);
    }
}
