//! Writes: into the write cache, or to the medium.

use crate::disk::drive::Disk;
use crate::disk::mechanism::Start;
use crate::request::{Nanos, Operation, Request};

impl Disk {
    /// Serve a write from the cache, or queue it.
    pub(super) fn write(&mut self, time: Nanos, request: Request) {
        self.stop_read_ahead(time);
        let cached = self.parameters.cache.write_cache && !request.fua;
        if cached && self.has_room(&request) {
            self.write_cache(time, &request);
            return;
        }
        let overhead = self.overhead(self.parameters.overheads.write_miss);
        self.last = Operation::Write;
        let ready = time + overhead;
        self.wait(request, time, ready, cached);
    }

    /// Whether the write cache can take the request.
    pub(super) fn has_room(&self, request: &Request) -> bool {
        let cache = &self.parameters.cache;
        let extent = self.dirty.extents() < cache.write_extents
            || self.dirty.touches(request.block, request.end());
        let blocks = self.dirty.blocks() + u64::from(request.blocks) <= cache.write_blocks;
        self.dirty.is_empty() || (extent && blocks)
    }

    /// Take a write into the cache and complete it.
    pub(super) fn write_cache(&mut self, time: Nanos, request: &Request) {
        let overhead = self.overhead(self.parameters.overheads.write_hit);
        let transfer = self.bus_time(u64::from(request.blocks));
        let end = time.max(self.controller_at) + overhead + transfer;
        self.last = Operation::Write;
        self.controller_at = end;
        if self.dirty.is_empty() {
            self.dirty_since = time;
        }
        self.dirty_data_at = end;
        self.writes += 1;
        self.dirty.insert(request.block, request.end(), self.writes);
        self.keep_written(request);
        let completion = self.parameters.overheads.write_completion;
        self.finish(request.id, end + completion);
    }

    /// Write to the medium and complete the request.
    pub(super) fn write_media(&mut self, time: Nanos, request: &Request) {
        self.stop_read_ahead(time);
        let range = (request.block, request.end());
        let data_at = time + self.bus_time(u64::from(request.blocks));
        let held = self.parameters.bus.holds_for_write;
        let start = Start {
            arm: self.arm,
            time: if held { data_at } else { time },
            data_at,
        };
        let end = self.write_range(start, range);
        self.dirty.remove(range.0, range.1);
        self.keep_written(request);
        let completion = self.parameters.overheads.write_completion;
        self.finish(request.id, end + completion);
    }

    /// Keep written blocks for reads; appended blocks share a segment.
    fn keep_written(&mut self, request: &Request) {
        self.segments.invalidate(request.block, request.end());
        let before = request
            .block
            .checked_sub(1)
            .and_then(|block| self.written.find(block));
        let append = before.filter(|at| self.written.get(*at).end == request.block);
        if let Some(index) = append {
            let start = self.written.get(index).start;
            self.written.fill(index, start, request.end());
            return;
        }
        self.written.invalidate(request.block, request.end());
        self.written.replace(request.block, request.end());
    }
}
