//! Place of each block: cylinder, head and angle.

use serde::Deserialize;

use crate::request::Nanos;

/// Spare space that a zone keeps free, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spares {
    /// Spare sectors at the end of each region.
    pub sectors: u32,
    /// Tracks in a region; the zone's length for one region.
    pub tracks: u32,
}

/// Adjacent cylinders with the same number of sectors on a track.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// First cylinder.
    pub first_cylinder: u32,
    /// Number of cylinders.
    pub cylinders: u32,
    /// Sectors on each track.
    pub sectors: u32,
    /// Angle between the first sectors of adjacent tracks of a cylinder, in sectors.
    pub track_skew: f64,
    /// Angle between the first sectors of a cylinder's first track and the track before, in sectors.
    pub cylinder_skew: f64,
    /// Angle of the first sector of the zone, in sectors.
    pub offset: f64,
    /// Sectors at the front of the zone that hold no blocks of the host.
    pub reserved: u64,
    /// Spare sectors.
    pub spares: Spares,
}

/// A track and the blocks on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track {
    /// Cylinder.
    pub cylinder: u32,
    /// Head.
    pub head: u32,
    /// Sectors on the track.
    pub sectors: u32,
    /// Time from the index mark to the start of sector 0, in nanoseconds of rotation.
    pub angle: Nanos,
    /// Block on sector `first_sector`.
    pub first_block: u64,
    /// First sector that holds a block of the host.
    pub first_sector: u32,
    /// Blocks of the host on the track.
    pub blocks: u32,
}

#[derive(Clone, Debug)]
struct ZoneMap {
    zone: Zone,
    first_block: u64,
    blocks: u64,
    region_sectors: u64,
    region_blocks: u64,
    track_turn: f64,
    cylinder_turn: f64,
}

/// Map from blocks to tracks.
#[derive(Clone, Debug)]
pub struct Geometry {
    surfaces: u32,
    serpentine: bool,
    period: Nanos,
    zones: Vec<ZoneMap>,
    first_blocks: Vec<u64>,
    blocks: u64,
    cylinders: u32,
}

impl Geometry {
    /// Geometry of `zones` in ascending order; blocks beyond `capacity` are not used.
    ///
    /// With `serpentine`, every other cylinder is filled from its last head to its first.
    pub fn new(
        zones: &[Zone],
        surfaces: u32,
        serpentine: bool,
        period: Nanos,
        capacity: u64,
    ) -> Self {
        let mut maps: Vec<ZoneMap> = Vec::with_capacity(zones.len());
        let mut first_block = 0;
        for zone in zones {
            let map = ZoneMap::new(zone, surfaces, first_block);
            first_block += map.blocks;
            maps.push(map);
        }
        let first_blocks = maps.iter().map(|map| map.first_block).collect();
        let cylinders = zones
            .last()
            .map_or(0, |zone| zone.first_cylinder + zone.cylinders);
        Self {
            surfaces,
            serpentine,
            period,
            zones: maps,
            first_blocks,
            blocks: first_block.min(capacity),
            cylinders,
        }
    }

    /// Blocks of the host.
    pub const fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Cylinders, from 0 to the last one of the last zone.
    pub const fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// Track that holds `block`.
    pub fn track(&self, block: u64) -> Track {
        let zone = &self.zones[self.first_blocks.partition_point(|first| *first <= block) - 1];
        zone.track(block, self.surfaces, self.serpentine, self.period)
    }
}

impl ZoneMap {
    fn new(zone: &Zone, surfaces: u32, first_block: u64) -> Self {
        let tracks = u64::from(zone.cylinders) * u64::from(surfaces);
        let sectors = u64::from(zone.sectors);
        let region_tracks = u64::from(zone.spares.tracks).min(tracks);
        let region_sectors = region_tracks * sectors;
        let region_blocks = region_sectors - u64::from(zone.spares.sectors).min(region_sectors - 1);
        let rest = (tracks % region_tracks) * sectors;
        let all = tracks / region_tracks * region_blocks + rest.min(region_blocks);
        let turns = |skew: f64| skew / f64::from(zone.sectors);
        let track_turn = turns(zone.track_skew);
        Self {
            first_block,
            blocks: all - zone.reserved.min(all),
            region_sectors,
            region_blocks,
            track_turn,
            cylinder_turn: track_turn * f64::from(surfaces - 1) + turns(zone.cylinder_skew),
            zone: zone.clone(),
        }
    }

    fn track(&self, block: u64, surfaces: u32, serpentine: bool, period: Nanos) -> Track {
        let sectors = u64::from(self.zone.sectors);
        let position = block - self.first_block + self.zone.reserved;
        let region = position / self.region_blocks;
        let within = position - region * self.region_blocks;
        let number = region * (self.region_sectors / sectors) + within / sectors;
        let (cylinder, order) = split(number, surfaces);
        let backwards = serpentine && (self.zone.first_cylinder + cylinder) % 2 == 1;
        // Blocks of this track: limited by the reserved front and by the region's spares.
        let track_start = within / sectors * sectors;
        let before = position - (within - track_start);
        let first = before.max(self.zone.reserved);
        let last = (track_start + sectors).min(self.region_blocks) - track_start + before;
        Track {
            cylinder: self.zone.first_cylinder + cylinder,
            head: if backwards {
                surfaces - 1 - order
            } else {
                order
            },
            sectors: self.zone.sectors,
            angle: self.angle(cylinder, order, period),
            first_block: first - self.zone.reserved + self.first_block,
            first_sector: narrow(first - before),
            blocks: narrow(last.min(self.blocks + self.zone.reserved) - first),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to one period"
    )]
    #[expect(clippy::cast_precision_loss, reason = "a period is below 2^52 ns")]
    fn angle(&self, cylinder: u32, order: u32, period: Nanos) -> Nanos {
        let turns = f64::from(cylinder) * self.cylinder_turn
            + f64::from(order) * self.track_turn
            + self.zone.offset / f64::from(self.zone.sectors);
        (turns.rem_euclid(1.0) * period as f64) as Nanos
    }
}

fn split(track: u64, surfaces: u32) -> (u32, u32) {
    let surfaces = u64::from(surfaces);
    (narrow(track / surfaces), narrow(track % surfaces))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "cylinders, heads and sectors are below 2^32"
)]
const fn narrow(value: u64) -> u32 {
    value as u32
}
