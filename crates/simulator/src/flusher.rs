//! Write-back by the flusher thread.

use std::ops::Range;

use iostudy_schedulers::{Bio, Priority, ProcessId};

use crate::device::Purpose;
use crate::host::PAGE_SECTORS;
use crate::state::Simulation;

/// Pages of a file that the flusher writes before it turns to the next one: 4 MiB.
pub const CHUNK_PAGES: u64 = 1024;

impl Simulation<'_> {
    /// Look for files whose pages are older than the limit.
    pub(crate) fn look_for_old_pages(&mut self) {
        let (now, limit) = (self.now, self.experiment.host.dirty_expire);
        let is_old = |file: &crate::page_cache::FilePages| {
            !file.dirty.is_empty() && now - file.dirty_since >= limit
        };
        self.flusher.expired |= self.cache.files.iter().any(is_old);
    }

    /// Write while there is reason to, until the queue has no request for the flusher.
    pub(crate) fn flush(&mut self) {
        while self.must_flush() && !self.device.is_congested() {
            let Some((file, pages)) = self.next_chunk() else {
                self.flusher.expired = false;
                return;
            };
            self.flusher.left -= pages.end - pages.start;
            let process = u32::try_from(self.threads.len()).expect("few threads");
            self.write_back(file, pages, ProcessId(process), Priority::default(), false);
        }
    }

    fn must_flush(&self) -> bool {
        self.flusher.expired || self.cache.dirty > self.experiment.host.background_pages()
    }

    fn next_chunk(&mut self) -> Option<(usize, Range<u64>)> {
        let limit = self.request_pages();
        for _ in 0..=self.cache.files.len() {
            if self.flusher.left > 0 {
                let wanted = limit.min(self.flusher.left);
                if let Some(pages) = self.cache.next_dirty(self.flusher.file, wanted) {
                    return Some((self.flusher.file, pages));
                }
            }
            self.flusher.file = (self.flusher.file + 1) % self.cache.files.len();
            self.flusher.left = CHUNK_PAGES;
        }
        None
    }

    /// Write dirty pages, which fit into one request.
    pub(crate) fn write_back(
        &mut self,
        file: usize,
        pages: Range<u64>,
        process: ProcessId,
        priority: Priority,
        sync: bool,
    ) {
        self.cache.begin_write_back(file, pages.clone());
        let (start, sectors) = self.sectors_of(file, &pages);
        let bio = Bio {
            sync,
            priority,
            ..Bio::write(process, start, sectors)
        };
        self.device.submit(bio, Purpose::WriteBack(file, pages));
    }

    /// Pages that fit into the largest request.
    pub(crate) fn request_pages(&self) -> u64 {
        (u64::from(self.experiment.settings.max_sectors) / PAGE_SECTORS).max(1)
    }
}
