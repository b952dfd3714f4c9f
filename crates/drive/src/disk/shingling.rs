//! Drive-managed shingled recording: a persistent cache, and bands that are rewritten as a whole.
//!
//! Writes go to the persistent cache, a log at the end of the medium. Cleaning reads a band,
//! merges the newer blocks and writes the band (A. Aghayev, P. Desnoyers: Skylight, FAST 2015).
//! Long sequential writes go to their bands directly.

use std::collections::{BTreeMap, BTreeSet};

use crate::disk::parameters::Shingling;

/// Sequential blocks after which writes go to their bands directly: 4 MiB.
const STREAM_BLOCKS: u64 = 8192;

/// A range of blocks of the medium.
pub type Range = (u64, u64);

/// Map from blocks to the place of their newest version.
#[derive(Clone, Debug)]
pub struct ShingleMap {
    parameters: Shingling,
    cache_start: u64,
    cache_used: u64,
    /// Start of a range of blocks, its end, and its place in the cache.
    mapped: BTreeMap<u64, (u64, u64)>,
    /// Bands with blocks in the cache, or partly overwritten by a sequential write.
    stale_bands: BTreeSet<u64>,
    stream_end: u64,
    stream_blocks: u64,
}

impl ShingleMap {
    /// Map of a medium of `blocks` blocks with an empty cache.
    pub fn new(parameters: Shingling, blocks: u64) -> Self {
        Self {
            cache_start: blocks - parameters.cache_blocks.min(blocks),
            parameters,
            cache_used: 0,
            mapped: BTreeMap::new(),
            stale_bands: BTreeSet::new(),
            stream_end: u64::MAX,
            stream_blocks: 0,
        }
    }

    /// Blocks of the host.
    pub const fn blocks(&self) -> u64 {
        self.cache_start
    }

    /// Ranges of the medium that hold the newest version of `range`, in the order of blocks.
    pub fn places(&self, range: Range) -> Vec<Range> {
        let (mut at, end) = range;
        let mut places = Vec::with_capacity(1);
        let first = self
            .mapped
            .range(..=at)
            .next_back()
            .map_or(at, |(start, _)| *start);
        for (&start, &(mapped_end, place)) in self.mapped.range(first..end) {
            if mapped_end <= at {
                continue;
            }
            if at < start {
                places.push((at, start));
            }
            let (from, to) = (at.max(start), mapped_end.min(end));
            places.push((place + (from - start), place + (to - start)));
            at = to;
        }
        if at < end {
            places.push((at, end));
        }
        places
    }

    /// Whether the persistent cache has room for `blocks` more.
    pub const fn has_room(&self, blocks: u64) -> bool {
        self.cache_used + blocks <= self.parameters.cache_blocks
    }

    /// Place of a write of `range` on the medium.
    pub fn write(&mut self, range: Range) -> Range {
        let blocks = range.1 - range.0;
        let sequential = range.0 == self.stream_end;
        if !sequential && self.stream_blocks >= STREAM_BLOCKS {
            self.stale_bands
                .insert(self.stream_end / self.parameters.band_blocks);
        }
        self.stream_blocks = if sequential { self.stream_blocks } else { 0 } + blocks;
        self.stream_end = range.1;
        self.unmap(range);
        if self.stream_blocks >= STREAM_BLOCKS {
            return range;
        }
        let place = self.cache_start + self.cache_used;
        self.cache_used += blocks;
        self.mapped.insert(range.0, (range.1, place));
        let bands =
            range.0 / self.parameters.band_blocks..=(range.1 - 1) / self.parameters.band_blocks;
        self.stale_bands.extend(bands);
        (place, place + blocks)
    }

    /// Next band to clean, as its range; `None` if every band is clean.
    pub fn stale_band(&self) -> Option<Range> {
        let start = self.stale_bands.first()? * self.parameters.band_blocks;
        Some((
            start,
            (start + self.parameters.band_blocks).min(self.cache_start),
        ))
    }

    /// Record that the band at `range` has been rewritten.
    pub fn cleaned(&mut self, range: Range) {
        self.stale_bands
            .remove(&(range.0 / self.parameters.band_blocks));
        self.unmap(range);
        if self.mapped.is_empty() {
            self.cache_used = 0;
        }
    }

    fn unmap(&mut self, range: Range) {
        while let Some((&start, &(end, place))) = self.mapped.range(..range.1).next_back() {
            if end <= range.0 {
                break;
            }
            self.mapped.remove(&start);
            if start < range.0 {
                self.mapped.insert(start, (range.0, place));
            }
            if range.1 < end {
                self.mapped
                    .insert(range.1, (end, place + (range.1 - start)));
            }
        }
    }
}
