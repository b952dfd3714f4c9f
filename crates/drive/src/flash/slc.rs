//! Fill level of the SLC cache.

use crate::flash::parameters::SlcCache;
use crate::request::Nanos;

/// Pages in the SLC cache; idle time moves them to the other cells.
#[derive(Clone, Debug)]
pub struct SlcLevel {
    parameters: SlcCache,
    pages: u64,
    used: u64,
    /// Time to move a page, over all dies.
    move_time: Nanos,
}

impl SlcLevel {
    /// An empty cache.
    pub fn new(parameters: SlcCache, page_bytes: u64, move_time: Nanos) -> Self {
        Self {
            pages: parameters.bytes / page_bytes,
            parameters,
            used: 0,
            move_time: move_time.max(1),
        }
    }

    /// Move pages while the drive was idle from `start` to `end`.
    pub fn idle(&mut self, start: Nanos, end: Nanos) {
        let time = end
            .saturating_sub(start)
            .saturating_sub(self.parameters.idle);
        self.used = self.used.saturating_sub(time / self.move_time);
    }

    /// Add a page to the cache and return its program time; `None` if the cache is full.
    pub fn add_page(&mut self) -> Option<Nanos> {
        if self.used == self.pages {
            return None;
        }
        self.used += 1;
        Some(self.parameters.program)
    }
}
