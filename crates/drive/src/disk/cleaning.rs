//! Cleaning of a shingled medium: bands are read, merged and written in idle time, or when the
//! persistent cache is full.

use crate::disk::access::plan;
use crate::disk::drive::Disk;
use crate::disk::mechanism::{Access, Start};
use crate::disk::shingling::ShingleMap;
use crate::request::Nanos;

impl Disk {
    /// Ranges of the medium that hold `range`.
    pub(super) fn places(&self, range: (u64, u64)) -> Vec<(u64, u64)> {
        self.shingles
            .as_ref()
            .map_or_else(|| vec![range], |shingles| shingles.places(range))
    }

    /// Time at which the drive has been idle long enough to clean a band.
    pub(super) fn cleaning_at(&self) -> Option<Nanos> {
        let shingles = self.shingles.as_ref()?;
        shingles.stale_band()?;
        let last = self.free_at.max(self.controller_at);
        self.parameters.shingling.map(|each| last + each.idle)
    }

    /// Clean a band, if one is stale.
    pub(super) fn clean_band(&mut self, time: Nanos) {
        let Some(band) = self.shingles.as_ref().and_then(ShingleMap::stale_band) else {
            return;
        };
        self.stop_read_ahead(time);
        let mut start = Start::new(self.arm, time);
        for place in self.places(band) {
            let access = plan(&self.mechanism, start, place, Access::Read, false);
            start = Start::new(access.arm, access.end);
        }
        let access = plan(&self.mechanism, start, band, Access::Write, false);
        self.arm = access.arm;
        self.free_at = access.end;
        if let Some(shingles) = &mut self.shingles {
            shingles.cleaned(band);
        }
    }

    /// Clean bands until the persistent cache has room; return the time at which the medium is free.
    pub(super) fn make_room(&mut self, time: Nanos, blocks: u64) -> Nanos {
        let must_clean =
            |shingles: &ShingleMap| !shingles.has_room(blocks) && shingles.stale_band().is_some();
        let mut free = time;
        while self.shingles.as_ref().is_some_and(must_clean) {
            self.clean_band(free);
            free = self.free_at;
        }
        free
    }
}
