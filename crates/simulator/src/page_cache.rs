//! Pages of all files: read ones, dirty ones, and those under I/O.

use std::collections::HashMap;
use std::ops::Range;

use iostudy_schedulers::Nanos;

use crate::range_set::RangeSet;
use crate::read_ahead::ReadAhead;

/// Pages of a file.
#[derive(Clone, Debug, Default)]
pub struct FilePages {
    /// Pages with valid content.
    pub cached: RangeSet,
    /// Pages that are being read.
    pub pending: RangeSet,
    /// Pages to write.
    pub dirty: RangeSet,
    /// Pages being written.
    pub written_back: u64,
    /// Time since which the file has dirty pages.
    pub dirty_since: Nanos,
    /// Page from which the flusher continues.
    pub cursor: u64,
    /// Lanes that wait for a page.
    pub readers: Vec<(u64, usize)>,
    /// Lanes that wait for the end of all write-back.
    pub syncers: Vec<usize>,
}

/// The page cache.
#[derive(Clone, Debug, Default)]
pub struct PageCache {
    /// Pages by file.
    pub files: Vec<FilePages>,
    /// Read-ahead by thread and file.
    pub read_ahead: HashMap<(usize, usize), ReadAhead>,
    /// Dirty pages of all files.
    pub dirty: u64,
    /// Pages of all files under write-back.
    pub written_back: u64,
}

impl PageCache {
    pub fn new(files: usize) -> Self {
        Self {
            files: vec![FilePages::default(); files],
            ..Self::default()
        }
    }

    /// Pages that count against the limit of writers.
    pub const fn unwritten(&self) -> u64 {
        self.dirty + self.written_back
    }

    pub fn make_dirty(&mut self, file: usize, pages: Range<u64>, now: Nanos) {
        let own = &mut self.files[file];
        if own.dirty.is_empty() {
            own.dirty_since = now;
        }
        own.cached.insert(pages.clone());
        self.dirty += own.dirty.insert(pages);
    }

    /// The next dirty pages of a file from its cursor, at most `limit`; the file's cursor moves.
    pub fn next_dirty(&self, file: usize, limit: u64) -> Option<Range<u64>> {
        let own = &self.files[file];
        let found = own.dirty.next_from(own.cursor);
        let range = found.or_else(|| own.dirty.next_from(0))?;
        Some(range.start..range.end.min(range.start + limit))
    }

    /// The first dirty ones of some pages, at most `limit`.
    pub fn first_dirty(&self, file: usize, pages: &Range<u64>, limit: u64) -> Option<Range<u64>> {
        let found = self.files[file].dirty.next_from(pages.start)?;
        let end = found.end.min(pages.end).min(found.start + limit);
        (found.start < end).then_some(found.start..end)
    }

    /// Dirty pages are now under write-back.
    pub fn begin_write_back(&mut self, file: usize, pages: Range<u64>) {
        let own = &mut self.files[file];
        own.cursor = pages.end;
        let count = pages.end - pages.start;
        self.dirty -= own.dirty.remove(pages);
        own.written_back += count;
        self.written_back += count;
    }

    /// Pages were written. Returns the lanes that waited for it.
    pub fn end_write_back(&mut self, file: usize, pages: &Range<u64>) -> Vec<usize> {
        let own = &mut self.files[file];
        let count = pages.end - pages.start;
        own.written_back -= count;
        self.written_back -= count;
        if own.written_back == 0 {
            std::mem::take(&mut own.syncers)
        } else {
            Vec::new()
        }
    }

    /// Pages were read. Returns the lanes that waited for one of them.
    pub fn end_fill(&mut self, file: usize, pages: Range<u64>) -> Vec<usize> {
        let own = &mut self.files[file];
        own.pending.remove(pages.clone());
        own.cached.insert(pages.clone());
        let readers = std::mem::take(&mut own.readers);
        let (woken, kept) = readers
            .into_iter()
            .partition::<Vec<_>, _>(|(page, _)| pages.contains(page));
        own.readers = kept;
        woken.into_iter().map(|(_, lane)| lane).collect()
    }

    /// Drop all pages of a file that are not under I/O, dirty ones too.
    pub fn forget(&mut self, file: usize) {
        let own = &mut self.files[file];
        own.cached = RangeSet::default();
        self.dirty -= own.dirty.remove(0..u64::MAX);
        self.read_ahead.retain(|&(_, other), _| other != file);
    }

    /// The parts of `pages` that are neither cached nor being read.
    pub fn missing(&self, file: usize, pages: Range<u64>) -> Vec<Range<u64>> {
        let own = &self.files[file];
        let mut missing = Vec::new();
        let mut page = pages.start;
        while page < pages.end {
            let known = [own.cached.next_from(page), own.pending.next_from(page)];
            let next = known.into_iter().flatten().min_by_key(|range| range.start);
            let (start, end) =
                next.map_or((pages.end, pages.end), |range| (range.start, range.end));
            if start > page {
                missing.push(page..start.min(pages.end));
            }
            page = end.max(page + 1);
        }
        missing
    }
}
