//! A volume over drives with queues of their own: stripes, and copies of each.

use std::collections::HashMap;
use std::iter;

use iostudy_drive::Parameters;
use iostudy_schedulers::{Bio, Nanos, SchedulerBuilder, Settings, TunableError};

use crate::device::{Completed, Device, Purpose, SimulationError};
use crate::figures::DeviceCounters;

/// Layout of a volume. The default is one drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeLayout {
    /// Drives with different data of a stripe.
    pub stripes: u32,
    /// Copies of the data, on drives of their own. A write goes to all of them.
    pub copies: u32,
    /// Sectors on one drive before the next one follows.
    pub chunk_sectors: u32,
    /// Whether a read goes to the copy with the fewest requests, the first of equals. dm-mirror
    /// reads from the first copy alone; md and dm-raid balance.
    pub balances_reads: bool,
}

impl Default for VolumeLayout {
    fn default() -> Self {
        Self {
            stripes: 1,
            copies: 1,
            chunk_sectors: 128,
            balances_reads: false,
        }
    }
}

/// The part of a bio on one drive of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    stripe: u32,
    start: u64,
    sectors: u32,
}

impl VolumeLayout {
    /// Number of drives.
    pub const fn drives(&self) -> u32 {
        self.stripes * self.copies
    }

    /// Sectors of the volume over drives with so many.
    pub fn capacity(&self, sectors: u64) -> u64 {
        if self.stripes == 1 {
            return sectors;
        }
        let chunk = u64::from(self.chunk_sectors);
        sectors / chunk * chunk * u64::from(self.stripes)
    }

    fn split(&self, start: u64, sectors: u32) -> Vec<Piece> {
        if self.stripes == 1 {
            let stripe = 0;
            return vec![Piece {
                stripe,
                start,
                sectors,
            }];
        }
        let (chunk, stripes) = (u64::from(self.chunk_sectors), u64::from(self.stripes));
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut at, end) = (start, start + u64::from(sectors));
        while at < end {
            let (number, offset) = (at / chunk, at % chunk);
            let length = (chunk - offset).min(end - at);
            pieces.push(Piece {
                stripe: u32::try_from(number % stripes).expect("below the number of stripes"),
                start: number / stripes * chunk + offset,
                sectors: u32::try_from(length).expect("at most a chunk"),
            });
            at += length;
        }
        pieces
    }
}

/// A bio of the volume whose parts are under way.
struct Parent {
    purpose: Purpose,
    parts: u32,
    submitted: Nanos,
    read: bool,
    sectors: u32,
}

/// Drives with their queues, as one device.
pub struct Volume {
    layout: VolumeLayout,
    devices: Vec<Device>,
    /// Parts under way of each drive.
    loads: Vec<u32>,
    parents: Vec<Option<Parent>>,
    free: Vec<usize>,
    /// Drives that have yet to flush, by lane.
    flushes: HashMap<usize, u32>,
    now: Nanos,
    under_way: u32,
    counters: DeviceCounters,
    completed: Vec<Completed>,
}

impl Volume {
    /// Make a volume over drives that are equal, but for the last one.
    pub fn new(
        layout: VolumeLayout,
        settings: Settings,
        start: Nanos,
        scheduler: SchedulerBuilder,
        (drive, last): (&Parameters, &Parameters),
    ) -> Self {
        let count = layout.drives() as usize;
        let drives = iter::repeat_n(drive, count - 1).chain([last]);
        Self {
            layout,
            devices: drives
                .map(|own| Device::new(settings, start, scheduler, own))
                .collect(),
            loads: vec![0; count],
            parents: Vec::new(),
            free: Vec::new(),
            flushes: HashMap::new(),
            now: start,
            under_way: 0,
            counters: DeviceCounters::default(),
            completed: Vec::new(),
        }
    }

    pub fn write_tunable(&mut self, name: &str, text: &str) -> Result<(), TunableError> {
        self.devices
            .iter_mut()
            .try_for_each(|device| device.write_tunable(name, text))
    }

    /// Counters of the volume, whose requests are not merged; of one drive those of the drive.
    pub fn counters(&self) -> DeviceCounters {
        match &self.devices[..] {
            [device] => *device.counters(),
            _ => self.counters,
        }
    }

    /// Counters of each drive.
    pub fn drives(&self) -> Vec<DeviceCounters> {
        let counters = self.devices.iter().map(Device::counters);
        counters.copied().collect()
    }

    pub fn is_congested(&self) -> bool {
        self.devices.iter().any(Device::is_congested)
    }

    pub fn next_event(&self) -> Option<Nanos> {
        self.devices.iter().filter_map(Device::next_event).min()
    }

    pub fn advance(&mut self, now: Nanos) {
        let elapsed = now - self.now;
        self.counters.busy += if self.under_way > 0 { elapsed } else { 0 };
        self.now = now;
        for device in &mut self.devices {
            device.advance(now);
        }
    }

    pub fn submit(&mut self, bio: Bio, purpose: Purpose) {
        if let [device] = &mut self.devices[..] {
            device.submit(bio, purpose);
            return;
        }
        let parent = self.free.pop().unwrap_or_else(|| {
            self.parents.push(None);
            self.parents.len() - 1
        });
        let mut parts = 0;
        for piece in self.layout.split(bio.start, bio.sectors) {
            let own = Bio {
                start: piece.start,
                sectors: piece.sectors,
                ..bio
            };
            for drive in self.legs(piece.stripe, bio.is_read()) {
                self.loads[drive] += 1;
                self.devices[drive].submit(own, Purpose::Part(parent, drive));
                parts += 1;
            }
        }
        self.under_way += 1;
        self.parents[parent] = Some(Parent {
            purpose,
            parts,
            submitted: self.now,
            read: bio.is_read(),
            sectors: bio.sectors,
        });
    }

    /// Drives that a part goes to.
    fn legs(&self, stripe: u32, read: bool) -> Vec<usize> {
        let copies = self.layout.copies as usize;
        let first = stripe as usize * copies;
        let all = first..first + copies;
        if !read {
            return all.collect();
        }
        if self.layout.balances_reads {
            let least = all.min_by_key(|&drive| self.loads[drive]);
            return least.into_iter().collect();
        }
        vec![first]
    }

    pub fn submit_flush(&mut self, lane: usize) {
        self.flushes.insert(lane, self.layout.drives());
        for device in &mut self.devices {
            device.submit_flush(lane);
        }
    }

    /// Take what all drives have completed by now.
    pub fn complete(&mut self, completed: &mut Vec<Completed>) {
        let mut parts = std::mem::take(&mut self.completed);
        for device in &mut self.devices {
            device.complete(&mut parts);
        }
        for part in parts.drain(..) {
            match part {
                Completed::Bio(Purpose::Part(parent, drive)) => {
                    self.loads[drive] -= 1;
                    completed.extend(self.end_part(parent).map(Completed::Bio));
                }
                Completed::Bio(purpose) => completed.push(Completed::Bio(purpose)),
                Completed::Flush(lane) => {
                    let left = self.flushes.get_mut(&lane).expect("a flush under way");
                    *left -= 1;
                    if *left == 0 {
                        self.flushes.remove(&lane);
                        self.counters.flushes += 1;
                        completed.push(Completed::Flush(lane));
                    }
                }
            }
        }
        self.completed = parts;
    }

    /// The purpose of a bio whose last part this was.
    fn end_part(&mut self, index: usize) -> Option<Purpose> {
        let parent = self.parents[index].as_mut().expect("a bio under way");
        parent.parts -= 1;
        if parent.parts > 0 {
            return None;
        }
        let ended = self.parents[index].take()?;
        self.free.push(index);
        self.under_way -= 1;
        let direction = if ended.read {
            &mut self.counters.read
        } else {
            &mut self.counters.write
        };
        direction.requests += 1;
        direction.sectors += u64::from(ended.sectors);
        direction.waited += self.now - ended.submitted;
        Some(ended.purpose)
    }

    pub fn submit_waiting(&mut self) {
        self.devices.iter_mut().for_each(Device::submit_waiting);
    }

    pub fn dispatch(&mut self) -> Result<(), SimulationError> {
        self.devices.iter_mut().try_for_each(Device::dispatch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRIPED: VolumeLayout = VolumeLayout {
        stripes: 3,
        copies: 2,
        chunk_sectors: 8,
        balances_reads: true,
    };

    #[test]
    fn a_bio_is_split_at_chunks_and_each_drive_is_filled_in_order() {
        let piece = |stripe, start, sectors| Piece {
            stripe,
            start,
            sectors,
        };
        assert_eq!(
            STRIPED.split(20, 20),
            [piece(2, 4, 4), piece(0, 8, 8), piece(1, 8, 8)]
        );
        assert_eq!(STRIPED.split(0, 4), [piece(0, 0, 4)]);
        let mirror = VolumeLayout {
            stripes: 1,
            ..STRIPED
        };
        assert_eq!(mirror.split(20, 20), [piece(0, 20, 20)]);
    }

    #[test]
    fn pieces_of_a_volume_cover_every_drive_once() {
        let mut covered = std::collections::BTreeSet::new();
        for piece in STRIPED.split(0, 96) {
            for sector in piece.start..piece.start + u64::from(piece.sectors) {
                assert!(covered.insert((piece.stripe, sector)));
            }
        }
        assert_eq!(covered.len(), 96);
        assert!(
            covered
                .iter()
                .all(|&(stripe, sector)| stripe < 3 && sector < 32)
        );
        assert_eq!(STRIPED.capacity(35), 96);
    }
}
