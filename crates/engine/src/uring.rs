//! Asynchronous backend with several records in flight in an `io_uring`.
//!
//! A sync before the end waits for all records in flight and blocks new ones, so that it covers all
//! earlier writes.

use std::io;
use std::time::Instant;

use rustix::io::Errno;

use crate::error::{Fault, FileFault, Halt};
use crate::files::Files;
use crate::job::{Job, SyncCall, UringOptions};
use crate::meter::Backend;
use crate::meter::Direction;
use crate::meter::Meter;
use crate::psync::bounded_sleep_until;
use crate::queue::{Piece, Queue};
use crate::record_content::RecordContent;
use crate::request_source::{NextRequest, Request, RequestSource};
use crate::sync_io::SyncSchedule;

pub(crate) struct Uring {
    queue: Queue,
    content: RecordContent,
    batch: usize,
    /// Record in flight in each slot.
    slots: Vec<Option<InFlight>>,
    free: Vec<usize>,
    sync_schedule: SyncSchedule,
    /// Pending sync that waits for records in flight, with its file.
    due_sync: Option<(usize, SyncCall)>,
}

#[derive(Clone, Copy)]
struct InFlight {
    request: Request,
    transferred: usize,
}

/// Reason why no more records can be issued.
enum IssueState {
    /// All slots are in use, or a sync is pending.
    Records,
    /// No request is due before this time.
    Until(Instant),
    /// No requests are left.
    End,
}

impl Uring {
    /// Create the backend of a thread of the job.
    pub(crate) fn new(
        job: &Job,
        thread: usize,
        ring: UringOptions,
        queue: Queue,
    ) -> io::Result<Self> {
        let depth = ring.depth as usize;
        Ok(Self {
            queue,
            content: RecordContent::new(job, thread)?,
            batch: ring.batch as usize,
            slots: vec![None; depth],
            free: (0..depth).collect(),
            sync_schedule: SyncSchedule::new(job),
            due_sync: None,
        })
    }

    /// Issue all requests that are due and have a free slot.
    fn issue_due(&mut self, requests: &mut RequestSource, now: Instant) -> IssueState {
        while self.due_sync.is_none() {
            let Some(slot) = self.free.last().copied() else {
                break;
            };
            match requests.next(now) {
                NextRequest::Issue(request) => {
                    self.free.pop();
                    self.issue(slot, request);
                }
                NextRequest::Wait(until) => return IssueState::Until(until),
                NextRequest::End => return IssueState::End,
            }
        }
        IssueState::Records
    }

    fn issue(&mut self, slot: usize, request: Request) {
        if request.direction == Direction::Write {
            let data = self.content.write_data(request.file, request.record);
            self.queue.slot(slot)[..data.len()].copy_from_slice(data);
        }
        self.due_sync = self
            .sync_schedule
            .after(request.direction)
            .map(|call| (request.file, call));
        self.submit_rest(
            slot,
            InFlight {
                request,
                transferred: 0,
            },
        );
    }

    fn submit_rest(&mut self, slot: usize, in_flight: InFlight) {
        let InFlight {
            request,
            transferred,
        } = in_flight;
        self.queue.submit(&Piece {
            slot,
            file: request.file,
            direction: request.direction,
            offset: request.record.offset + transferred as u64,
            skip: transferred,
            len: request.record.len - transferred,
        });
        self.slots[slot] = Some(in_flight);
    }

    /// Wait for completions or for the next due time. Return the time after it.
    fn wait(&mut self, issue_state: &IssueState, now: Instant) -> Result<Instant, Halt> {
        let in_flight = self.queue.in_flight();
        let waited = match issue_state {
            IssueState::Until(until) if in_flight == 0 => return Ok(bounded_sleep_until(*until)),
            IssueState::Until(until) => self
                .queue
                .wait(1, Some(until.saturating_duration_since(now))),
            IssueState::Records | IssueState::End => {
                self.queue.wait(self.batch.min(in_flight), None)
            }
        };
        waited
            .map_err(Fault::in_call("io_uring_enter", 0))
            .map_err(FileFault::in_file(0))?;
        Ok(Instant::now())
    }

    /// Handle a completed piece: finish its record or submit the rest.
    fn complete(
        &mut self,
        slot: usize,
        transferred: Result<usize, Errno>,
        now: Instant,
        meter: &mut Meter,
    ) -> Result<(), FileFault> {
        let mut in_flight = self.slots[slot]
            .take()
            .expect("a completed piece was in flight");
        let request = in_flight.request;
        let in_file = FileFault::in_file(request.file);
        let count = match transferred {
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => {
                self.submit_rest(slot, in_flight);
                return Ok(());
            }
            Err(errno) => return Err(in_file(in_flight.io_fault(errno))),
        };
        in_flight.transferred += count;
        if count > 0 && in_flight.transferred < request.record.len {
            self.submit_rest(slot, in_flight);
            return Ok(());
        }
        self.free.push(slot);
        meter.record_transfer(request.direction, request.due, request.record.len, now);
        self.check_record(slot, in_flight).map_err(in_file)
    }

    /// Check that the whole record was transferred and has the expected content.
    fn check_record(&mut self, slot: usize, in_flight: InFlight) -> Result<(), Fault> {
        let InFlight {
            request,
            transferred,
        } = in_flight;
        match request.direction {
            // A write of 0 bytes without an error would repeat forever.
            Direction::Write if transferred < request.record.len => {
                Err(in_flight.io_fault(Errno::IO))
            }
            Direction::Write => Ok(()),
            Direction::Read => {
                let data = &self.queue.slot(slot)[..transferred];
                self.content.verify(request.file, request.record, data)
            }
        }
    }

    /// Pending sync, once no record is in flight.
    fn due_sync(&mut self) -> Option<(usize, SyncCall)> {
        if self.queue.in_flight() > 0 {
            return None;
        }
        self.due_sync.take()
    }
}

impl InFlight {
    fn io_fault(&self, errno: Errno) -> Fault {
        let call = match self.request.direction {
            Direction::Read => "io_uring read",
            Direction::Write => "io_uring write",
        };
        Fault::in_call(call, self.request.record.offset + self.transferred as u64)(errno)
    }
}

impl Backend for Uring {
    fn run(
        &mut self,
        files: &Files,
        requests: &mut RequestSource,
        meter: &mut Meter,
    ) -> Result<(), Halt> {
        self.queue
            .attach(files)
            .map_err(Fault::in_call("io_uring_register", 0))
            .map_err(FileFault::in_file(0))?;
        let mut now = Instant::now();
        loop {
            meter.check_stop()?;
            let issue_state = self.issue_due(requests, now);
            if matches!(issue_state, IssueState::End) && self.queue.in_flight() == 0 {
                return Ok(());
            }
            now = self.wait(&issue_state, now)?;
            meter.advance(now);
            while let Some((slot, transferred)) = self.queue.next_completion() {
                self.complete(slot, transferred, now, meter)?;
                requests.complete(now);
            }
            if let Some((file, call)) = self.due_sync() {
                now = files.sync_one(file, call, now, meter)?;
                requests.complete(now);
            }
        }
    }
}
