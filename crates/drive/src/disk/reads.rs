//! Reads: from the cache, from read-ahead in progress, or from the medium.

use std::ops::RangeInclusive;

use crate::disk::access::{MediaAccess, plan};
use crate::disk::drive::Disk;
use crate::disk::mechanism::{Access, Start};
use crate::disk::parameters::ReadAheadEnd;
use crate::disk::read_ahead::ReadAhead;
use crate::request::{Nanos, Operation, Request};

impl Disk {
    /// Serve a read from the cache, or queue it.
    pub(super) fn read(&mut self, time: Nanos, request: Request) {
        self.fill_from_read_ahead(time);
        if let Some(end) = self.cached(time, &request) {
            self.last = Operation::Read;
            self.finish_read(&request, end);
            return;
        }
        let overhead = self.overhead(self.parameters.overheads.read_miss);
        self.last = Operation::Read;
        let ready = time + overhead;
        self.wait(request, time, ready, false);
    }

    /// End of the transfer of a read without a new media access; `None` for a miss.
    fn cached(&mut self, time: Nanos, request: &Request) -> Option<Nanos> {
        let begin =
            time.max(self.controller_at) + self.overhead(self.parameters.overheads.read_hit);
        let end = begin + self.bus_time(u64::from(request.blocks));
        let index = self.segments.find(request.block);
        let written = self.written.find(request.block);
        let written = written.is_some_and(|at| request.end() <= self.written.get(at).end);
        if written || self.dirty.contains(request.block, request.end()) {
            return Some(end);
        }
        if index.is_some_and(|at| request.end() <= self.segments.get(at).end) {
            let at = index?;
            self.consume(at, request);
            self.continue_read_ahead(at, request, time);
            return Some(end);
        }
        if !self.is_idle() {
            return None;
        }
        self.arriving(request, time)
            .map(|last| end.max(last + self.bus_time(1)))
    }

    /// Free the blocks before a hit, if read-ahead may replace requested blocks.
    fn consume(&mut self, index: usize, request: &Request) {
        let segment = self.segments.get(index);
        let replaced = self.parameters.cache.read_ahead_replaces_request;
        let start = if replaced {
            request.block
        } else {
            segment.start
        };
        self.segments.fill(index, start, segment.end);
    }

    /// Blocks that read-ahead in progress holds, and the one that it reads next.
    pub(super) fn read_ahead_blocks(&self) -> Option<RangeInclusive<u64>> {
        let segment = self.segments.get(self.read_ahead.as_ref()?.1);
        (segment.end > 0).then_some(segment.start..=segment.end)
    }

    /// Time at which read-ahead in progress reads the last block, if it has reached the first.
    fn arriving(&mut self, request: &Request, time: Nanos) -> Option<Nanos> {
        let index = self.read_ahead.as_ref()?.1;
        if !self.read_ahead_blocks()?.contains(&request.block) {
            return None;
        }
        self.consume(index, request);
        self.continue_read_ahead(index, request, time);
        let (stream, _) = self.read_ahead.as_mut()?;
        stream.extend(&self.mechanism, request.end());
        let last = stream.time_of(&self.mechanism, request.end());
        self.free_at = self.free_at.max(last);
        Some(last)
    }

    /// Read from the medium the blocks that are not cached.
    pub(super) fn read_media(&mut self, time: Nanos, request: &Request) {
        self.fill_from_read_ahead(time);
        if let Some(last) = self.arriving(request, time) {
            let transfer = time + self.bus_time(u64::from(request.blocks));
            self.finish_read(request, transfer.max(last + self.bus_time(1)));
            return;
        }
        self.stop_read_ahead(time);
        let held = self
            .segments
            .find(request.block)
            .map(|index| self.segments.get(index).end);
        let start = held.map_or(request.block, |end| end.min(request.end() - 1));
        let on_arrival = self.parameters.cache.zero_latency_reads;
        let range = (start, request.end());
        let places = self.places(range);
        let access = self.read_places(time, &places, on_arrival);
        self.arm = access.arm;
        self.free_at = access.end;
        let end = self.transfer_end(time, request, &access);
        self.finish_read(request, end);
        if places == [range] {
            self.start_read_ahead(request, &access);
        }
    }

    fn finish_read(&mut self, request: &Request, transferred: Nanos) {
        self.controller_at = self.controller_at.max(transferred);
        let completion = self.parameters.overheads.read_completion;
        self.finish(request.id, transferred + completion);
    }

    /// Read ranges of the medium one after the other.
    fn read_places(&self, time: Nanos, places: &[(u64, u64)], on_arrival: bool) -> MediaAccess {
        let mut start = Start::new(self.arm, time);
        let mut all: Option<MediaAccess> = None;
        for place in places {
            let next = plan(&self.mechanism, start, *place, Access::Read, on_arrival);
            start = Start::new(next.arm, next.end);
            match &mut all {
                None => all = Some(next),
                Some(access) => access.append(next),
            }
        }
        all.expect("a read has at least one place")
    }

    /// Time at which the last block has crossed the bus; each block follows its media read.
    fn transfer_end(&self, time: Nanos, request: &Request, access: &MediaAccess) -> Nanos {
        let behind = |block: u64| self.bus_time(request.end() - block);
        let mut end = time + behind(request.block);
        for run in &access.runs {
            let last = run.block + u64::from(run.blocks) - 1;
            let (first, last) = (run.block.max(request.block), last.max(request.block));
            let remaining = |block: u64| behind(block.min(request.end() - 1));
            end = end
                .max(run.time_of(1) + remaining(first))
                .max(run.end + remaining(last));
        }
        let watermark = self.parameters.bus.read_watermark;
        if watermark > 0.0 {
            end = end.max(watermark_time(access, watermark) + behind(request.block));
        }
        end
    }

    fn start_read_ahead(&mut self, request: &Request, access: &MediaAccess) {
        let first = if self.parameters.cache.keep_passing_sectors {
            access.first_block
        } else {
            request.block
        };
        let Some(index) = self
            .segments
            .replace(first.min(request.block), request.end())
        else {
            return;
        };
        let limit = self.read_ahead_limit(request);
        let (arm, end, range) = (access.arm, access.end, (request.end(), limit));
        let stream = ReadAhead::start(&self.mechanism, arm, end, range).map(|stream| {
            if self.parameters.cache.read_ahead == ReadAheadEnd::WholeTrack {
                stream.with_wrap(&self.mechanism, first)
            } else {
                stream
            }
        });
        self.read_ahead = stream.map(|stream| (stream, index));
    }

    fn read_ahead_limit(&self, request: &Request) -> u64 {
        let cache = &self.parameters.cache;
        let end = request.end();
        let most = end + cache.read_ahead_blocks;
        let room = if cache.read_ahead_replaces_request {
            end + self.segments.capacity()
        } else {
            request.block + self.segments.capacity()
        };
        let geometry = &self.mechanism.geometry;
        let track_end = |block: u64| {
            let track = geometry.track(block.min(geometry.blocks() - 1));
            track.first_block + u64::from(track.blocks)
        };
        let place = match cache.read_ahead {
            ReadAheadEnd::Nowhere => end,
            ReadAheadEnd::Track | ReadAheadEnd::WholeTrack => track_end(end - 1),
            ReadAheadEnd::NextTrack => track_end(track_end(end - 1)),
            ReadAheadEnd::Segment => u64::MAX,
        };
        place.min(most).min(room)
    }

    /// Extend or restart read-ahead after a hit in its segment.
    fn continue_read_ahead(&mut self, index: usize, request: &Request, time: Nanos) {
        let limit = self.read_ahead_limit(request);
        if let Some((stream, _)) = self.read_ahead.as_mut().filter(|(_, into)| *into == index) {
            if stream.end(&self.mechanism) > time {
                stream.extend(&self.mechanism, limit);
                return;
            }
        }
        let position = self.segments.get(index).end;
        if self.parameters.cache.read_ahead_after_hit && self.is_idle() && position < limit {
            self.stop_read_ahead(time);
            let begin = time.max(self.free_at);
            let range = (position, limit);
            let stream = ReadAhead::start(&self.mechanism, self.arm, begin, range);
            self.read_ahead = stream.map(|stream| (stream, index));
        }
    }

    /// Add the blocks that read-ahead has read by `time` to its segment.
    pub(super) fn fill_from_read_ahead(&mut self, time: Nanos) {
        if let Some((stream, index)) = &mut self.read_ahead {
            let end = stream.position(&self.mechanism, time);
            let segment = self.segments.get(*index);
            let start = stream
                .front(time)
                .unwrap_or(segment.start)
                .min(segment.start);
            if segment.end > 0 && (start, end) != (segment.start, segment.end) {
                self.segments.fill(*index, start, end);
            }
        }
    }

    /// End read-ahead and update the position of the arm.
    pub(super) fn stop_read_ahead(&mut self, time: Nanos) {
        self.fill_from_read_ahead(time);
        if let Some((stream, _)) = self.read_ahead.take() {
            self.arm = stream.arm();
        }
    }
}

/// Time at which `share` of the blocks of an access have been read.
fn watermark_time(access: &MediaAccess, share: f64) -> Nanos {
    let blocks: u32 = access.runs.iter().map(|run| run.blocks).sum();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to blocks"
    )]
    let mut left = (f64::from(blocks) * share).ceil() as u32;
    for run in &access.runs {
        if left <= run.blocks {
            return run.time_of(left);
        }
        left -= run.blocks;
    }
    access.end
}
