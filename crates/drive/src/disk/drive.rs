//! A disk drive on the virtual clock: command queue and scheduling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::disk::access::plan;
use crate::disk::dirty::{Dirty, Extent};
use crate::disk::geometry::Geometry;
use crate::disk::mechanism::{Access, Arm, Mechanism, Progress, Start, Target};
use crate::disk::parameters::{DiskParameters, Overhead};
use crate::disk::read_ahead::ReadAhead;
use crate::disk::seek::SeekCurve;
use crate::disk::segments::Segments;
use crate::disk::shingling::ShingleMap;
use crate::disk::weak::WeakRegions;
use crate::request::SubmitError;
use crate::request::{Completion, Nanos, Operation, Request};

/// A command that waits for the medium or for room in the write cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub request: Request,
    pub arrival: Nanos,
    /// Time at which the controller has processed the command.
    pub ready: Nanos,
    /// Position of its first sector.
    pub target: Target,
    /// Whether the command waits for room in the write cache.
    pub for_room: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PendingFlush {
    id: u64,
    pub arrival: Nanos,
    /// The flush covers writes up to this number.
    writes: u64,
}

/// A disk drive.
#[derive(Clone, Debug)]
pub struct Disk {
    pub(super) parameters: DiskParameters,
    pub(super) mechanism: Mechanism,
    pub(super) segments: Segments,
    /// Written blocks that serve reads.
    pub(super) written: Segments,
    pub(super) dirty: Dirty,
    /// Times at which the first and the last dirty blocks arrived.
    pub(super) dirty_since: Nanos,
    pub(super) dirty_data_at: Nanos,
    pub(super) writes: u64,
    pub(super) arm: Arm,
    /// Time at which the head ends its command, without read-ahead.
    pub(super) free_at: Nanos,
    /// Time at which controller and bus are free.
    pub(super) controller_at: Nanos,
    /// Read-ahead in progress, and the segment that it fills.
    pub(super) read_ahead: Option<(ReadAhead, usize)>,
    pub(super) last: Operation,
    /// Places of blocks on a shingled medium.
    pub(super) shingles: Option<ShingleMap>,
    /// Range of blocks that write-back is writing.
    write_back: Option<(u64, u64)>,
    /// Next block of the circular scan of write-back.
    pub(super) scan_from: u64,
    pub(super) waiting: Vec<Waiting>,
    pub(super) flushes: Vec<PendingFlush>,
    completions: BinaryHeap<Reverse<Completion>>,
    in_flight: usize,
    now: Nanos,
}

impl Disk {
    /// A drive at time 0, with empty caches and the arm over cylinder 0.
    pub fn new(parameters: DiskParameters) -> Self {
        let geometry = Geometry::new(
            &parameters.zones,
            parameters.surfaces,
            parameters.serpentine,
            parameters.period,
            parameters.capacity,
        );
        let mechanism = Mechanism {
            seek: SeekCurve::new(&parameters.seek, geometry.cylinders()),
            geometry,
            period: parameters.period,
            head_switch: parameters.head_switch,
            write_settle: parameters.write_settle,
            weak: WeakRegions::new(parameters.weak_regions.clone()),
        };
        let cache = &parameters.cache;
        let medium = mechanism.geometry.blocks();
        Self {
            shingles: parameters
                .shingling
                .map(|each| ShingleMap::new(each, medium)),
            segments: Segments::new(cache.read_segments, cache.segment_blocks),
            written: Segments::new(cache.written_segments, cache.segment_blocks),
            dirty: Dirty::default(),
            dirty_since: 0,
            dirty_data_at: 0,
            writes: 0,
            arm: Arm {
                cylinder: 0,
                head: 0,
                writing: false,
            },
            free_at: 0,
            controller_at: 0,
            read_ahead: None,
            last: Operation::Read,
            write_back: None,
            scan_from: 0,
            waiting: Vec::with_capacity(parameters.queue.depth),
            flushes: Vec::new(),
            completions: BinaryHeap::with_capacity(parameters.queue.depth),
            in_flight: 0,
            now: 0,
            mechanism,
            parameters,
        }
    }

    /// Blocks of the drive.
    pub fn blocks(&self) -> u64 {
        let medium = self.mechanism.geometry.blocks();
        self.shingles.as_ref().map_or(medium, ShingleMap::blocks)
    }

    /// Submitted commands that have not been returned as completions.
    pub const fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Dirty extents: acknowledged writes that a loss of power would destroy.
    pub fn unflushed(&self) -> impl Iterator<Item = Extent> + '_ {
        self.dirty.iter()
    }

    /// Submit a request at `time`.
    ///
    /// # Errors
    ///
    /// A full queue, blocks beyond the end, or a time before an earlier one.
    pub fn submit(&mut self, time: Nanos, request: Request) -> Result<(), SubmitError> {
        let queue = (self.in_flight, self.parameters.queue.depth);
        SubmitError::check(time, self.now, queue, &request, self.blocks())?;
        self.advance(time);
        self.in_flight += 1;
        match request.operation {
            Operation::Read => self.read(time, request),
            Operation::Write => self.write(time, request),
            Operation::Flush => self.flushes.push(PendingFlush {
                id: request.id,
                arrival: time,
                writes: self.writes,
            }),
        }
        Ok(())
    }

    /// Time of the next event: a completion, or a decision of the drive.
    pub fn next_event(&self) -> Option<Nanos> {
        let completion = self.next_completion().map(|next| next.at);
        completion.into_iter().chain(self.next_decision()).min()
    }

    /// The next of the completions that are known already.
    pub fn next_completion(&self) -> Option<Completion> {
        self.completions.peek().map(|Reverse(next)| *next)
    }

    /// Remove and return the next completion up to `time`.
    pub fn complete(&mut self, time: Nanos) -> Option<Completion> {
        self.advance(time);
        let next = self
            .completions
            .peek()
            .filter(|Reverse(next)| next.at <= time)?
            .0;
        self.completions.pop();
        self.in_flight -= 1;
        Some(next)
    }

    fn advance(&mut self, time: Nanos) {
        while let Some(at) = self.next_decision().filter(|at| *at <= time) {
            self.decide(at);
        }
        self.now = self.now.max(time);
    }

    fn next_decision(&self) -> Option<Nanos> {
        let command = || {
            let waiting = self.waiting.iter().filter(|each| !each.for_room);
            waiting.map(|each| each.ready)
        };
        if command().any(|ready| ready <= self.free_at) {
            return Some(self.free_at);
        }
        let flush = self.flushes.iter().map(|each| each.arrival);
        let write_back = (!self.dirty.is_empty()).then_some(self.dirty_since);
        let earliest = command()
            .chain(flush)
            .chain(write_back)
            .min()
            .or_else(|| self.cleaning_at())?;
        Some(earliest.max(self.free_at))
    }

    pub(super) fn start_write_back(&mut self, time: Nanos) {
        let Some(extent) = self.dirty.next_from(self.scan_from) else {
            return;
        };
        self.stop_read_ahead(time);
        let start = Start {
            arm: self.arm,
            time,
            data_at: self.dirty_data_at,
        };
        let range = (extent.start, extent.end);
        let run = self
            .mechanism
            .run(start, range, Access::Write, Progress::Start);
        let range = (extent.start, extent.start + u64::from(run.blocks));
        self.write_range(start, range);
        self.scan_from = range.1;
        self.write_back = Some(range);
    }

    /// Write `range` to its place on the medium; return the end time.
    pub(super) fn write_range(&mut self, mut start: Start, range: (u64, u64)) -> Nanos {
        start.time = self.make_room(start.time, range.1 - range.0);
        start.arm = self.arm;
        let place = self
            .shingles
            .as_mut()
            .map_or(range, |shingles| shingles.write(range));
        let on_arrival = self.parameters.cache.zero_latency_writes;
        let access = plan(&self.mechanism, start, place, Access::Write, on_arrival);
        self.arm = access.arm;
        self.free_at = access.end;
        access.end
    }

    pub(super) fn finish_write_back(&mut self, time: Nanos) {
        if let Some((start, end)) = self.write_back.take() {
            self.dirty.remove(start, end);
            self.admit(time);
        }
    }

    /// Move waiting writes into the write cache, oldest first, while it has room.
    fn admit(&mut self, time: Nanos) {
        loop {
            let waiting = self
                .waiting
                .iter()
                .enumerate()
                .filter(|(_, each)| each.for_room);
            let Some((index, oldest)) = waiting.min_by_key(|(_, each)| each.arrival) else {
                return;
            };
            let request = oldest.request;
            if !self.has_room(&request) {
                return;
            }
            self.waiting.swap_remove(index);
            self.write_cache(time, &request);
        }
    }

    pub(super) fn finish_flushes(&mut self, time: Nanos) {
        let overhead = self.parameters.overheads.flush;
        let pending = std::mem::take(&mut self.flushes);
        for flush in pending {
            if self.dirty.has_before(flush.writes) {
                self.flushes.push(flush);
            } else {
                self.finish(flush.id, time + overhead);
            }
        }
    }

    /// Queue a command; the controller has processed it at `ready`.
    pub(super) fn wait(&mut self, request: Request, arrival: Nanos, ready: Nanos, for_room: bool) {
        let access = match request.operation {
            Operation::Read => Access::Read,
            Operation::Write | Operation::Flush => Access::Write,
        };
        let target = self.mechanism.target(request.block, access);
        self.waiting.push(Waiting {
            request,
            arrival,
            ready,
            target,
            for_room,
        });
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.dirty.is_empty()
    }

    pub(super) fn finish(&mut self, id: u64, at: Nanos) {
        self.completions.push(Reverse(Completion { at, id }));
    }

    pub(super) const fn overhead(&self, overhead: Overhead) -> Nanos {
        match self.last {
            Operation::Write => overhead.after_write,
            Operation::Read | Operation::Flush => overhead.after_read,
        }
    }

    pub(super) fn bus_time(&self, blocks: u64) -> Nanos {
        self.parameters.bus.block_time * blocks
    }
}
