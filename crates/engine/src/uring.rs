//! The asynchronous backend: several records under way in an `io_uring`.
//!
//! A sync before the end waits for the records under way, and none is begun until it has come back,
//! so that it covers all that was written before it.

use std::io;
use std::time::Instant;

use rustix::io::Errno;

use crate::backend::Backend;
use crate::contents::Contents;
use crate::error::{Fault, FileFault, Halt};
use crate::feed::{Feed, Next, Task};
use crate::files::Files;
use crate::job::{Job, Ring, SyncCall};
use crate::meter::{Direction, Meter};
use crate::psync::sleep_towards;
use crate::ring::{Piece, Queue};
use crate::turn::SyncTurn;

pub(crate) struct Uring {
    queue: Queue,
    contents: Contents,
    batch: usize,
    /// What is under way in each slot.
    slots: Vec<Option<UnderWay>>,
    free: Vec<usize>,
    turn: SyncTurn,
    /// A sync that waits for the records under way, and of which file.
    due_sync: Option<(usize, SyncCall)>,
}

#[derive(Clone, Copy)]
struct UnderWay {
    task: Task,
    moved: usize,
}

/// Why no more records can be begun.
enum Hold {
    /// All slots are taken, or a sync has to come first.
    Records,
    /// Nothing is due before then.
    Until(Instant),
    /// There is nothing left.
    End,
}

impl Uring {
    /// With the content that a thread of the job writes and reads.
    pub(crate) fn new(job: &Job, thread: usize, ring: Ring, queue: Queue) -> io::Result<Self> {
        let depth = ring.depth as usize;
        Ok(Self {
            queue,
            contents: Contents::new(job, thread)?,
            batch: ring.batch as usize,
            slots: vec![None; depth],
            free: (0..depth).collect(),
            turn: SyncTurn::new(job),
            due_sync: None,
        })
    }

    /// Begin all that is due at this time and has a slot.
    fn begin_due(&mut self, feed: &mut Feed, now: Instant) -> Hold {
        while self.due_sync.is_none() {
            let Some(slot) = self.free.last().copied() else {
                break;
            };
            match feed.next(now) {
                Next::Begin(task) => {
                    self.free.pop();
                    self.begin(slot, task);
                }
                Next::Wait(until) => return Hold::Until(until),
                Next::End => return Hold::End,
            }
        }
        Hold::Records
    }

    fn begin(&mut self, slot: usize, task: Task) {
        if task.direction == Direction::Write {
            let data = self.contents.outgoing(task.file, task.record);
            self.queue.slot(slot)[..data.len()].copy_from_slice(data);
        }
        self.due_sync = self
            .turn
            .after(task.direction)
            .map(|call| (task.file, call));
        self.go_on_with(slot, UnderWay { task, moved: 0 });
    }

    fn go_on_with(&mut self, slot: usize, under_way: UnderWay) {
        let UnderWay { task, moved } = under_way;
        self.queue.begin(&Piece {
            slot,
            file: task.file,
            direction: task.direction,
            offset: task.record.offset + moved as u64,
            skip: moved,
            len: task.record.len - moved,
        });
        self.slots[slot] = Some(under_way);
    }

    /// Wait for records to end, or for the time of the next one; the time then.
    fn wait(&mut self, hold: &Hold, now: Instant) -> Result<Instant, Halt> {
        let under_way = self.queue.under_way();
        let waited = match hold {
            Hold::Until(until) if under_way == 0 => return Ok(sleep_towards(*until)),
            Hold::Until(until) => self
                .queue
                .wait(1, Some(until.saturating_duration_since(now))),
            Hold::Records | Hold::End => self.queue.wait(self.batch.min(under_way), None),
        };
        waited
            .map_err(Fault::of("io_uring_enter", 0))
            .map_err(FileFault::of(0))?;
        Ok(Instant::now())
    }

    /// A piece has ended: its record too, or there is more of it to come.
    fn conclude(
        &mut self,
        slot: usize,
        moved: Result<usize, Errno>,
        now: Instant,
        meter: &mut Meter,
    ) -> Result<(), FileFault> {
        let mut under_way = self.slots[slot].take().expect("what ended was under way");
        let task = under_way.task;
        let in_file = FileFault::of(task.file);
        let count = match moved {
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => {
                self.go_on_with(slot, under_way);
                return Ok(());
            }
            Err(errno) => return Err(in_file(under_way.refused(errno))),
        };
        under_way.moved += count;
        if count > 0 && under_way.moved < task.record.len {
            self.go_on_with(slot, under_way);
            return Ok(());
        }
        self.free.push(slot);
        meter.moved(task.direction, task.due, task.record.len, now);
        self.judge(slot, under_way).map_err(in_file)
    }

    /// Whether all of the record was moved, and is what was written.
    fn judge(&mut self, slot: usize, under_way: UnderWay) -> Result<(), Fault> {
        let UnderWay { task, moved } = under_way;
        match task.direction {
            // Nothing taken and no reason given: it would go on for ever.
            Direction::Write if moved < task.record.len => Err(under_way.refused(Errno::IO)),
            Direction::Write => Ok(()),
            Direction::Read => {
                let data = &self.queue.slot(slot)[..moved];
                self.contents.verify(task.file, task.record, data)
            }
        }
    }

    /// The sync that is due, once nothing is under way.
    fn due_sync(&mut self) -> Option<(usize, SyncCall)> {
        if self.queue.under_way() > 0 {
            return None;
        }
        self.due_sync.take()
    }
}

impl UnderWay {
    fn refused(&self, errno: Errno) -> Fault {
        let call = match self.task.direction {
            Direction::Read => "io_uring read",
            Direction::Write => "io_uring write",
        };
        Fault::of(call, self.task.record.offset + self.moved as u64)(errno)
    }
}

impl Backend for Uring {
    fn carry_out(&mut self, files: &Files, feed: &mut Feed, meter: &mut Meter) -> Result<(), Halt> {
        self.queue
            .attach(files)
            .map_err(Fault::of("io_uring_register", 0))
            .map_err(FileFault::of(0))?;
        let mut now = Instant::now();
        loop {
            meter.go_on()?;
            let hold = self.begin_due(feed, now);
            if matches!(hold, Hold::End) && self.queue.under_way() == 0 {
                return Ok(());
            }
            now = self.wait(&hold, now)?;
            while let Some((slot, moved)) = self.queue.ended() {
                self.conclude(slot, moved, now, meter)?;
                feed.ended(now);
            }
            if let Some((file, call)) = self.due_sync() {
                now = files.sync_one(file, call, now, meter)?;
                feed.ended(now);
            }
        }
    }
}
