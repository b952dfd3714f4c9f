//! Parameters of a disk drive.

use serde::Deserialize;

use crate::disk::geometry::Zone;
use crate::request::Nanos;

/// Processing time of a command, by the command before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    /// After a read.
    pub after_read: Nanos,
    /// After a write.
    pub after_write: Nanos,
}

/// Processing times of the controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overheads {
    /// Read from the cache.
    pub read_hit: Overhead,
    /// Read from the medium.
    pub read_miss: Overhead,
    /// Write into the cache.
    pub write_hit: Overhead,
    /// Write to the medium.
    pub write_miss: Overhead,
    /// After the last byte of a read.
    pub read_completion: Nanos,
    /// After the last byte of a write.
    pub write_completion: Nanos,
    /// Flush of the write cache, without the writes.
    pub flush: Nanos,
}

/// Connection to the host.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bus {
    /// Time to transfer a block.
    pub block_time: Nanos,
    /// Share of a read that must be in the buffer before its transfer begins.
    pub read_watermark: f64,
    /// Whether the drive holds the bus during the transfer of a write and seeks after it.
    pub holds_for_write: bool,
}

/// End of read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAheadEnd {
    /// No read-ahead.
    Nowhere,
    /// The end of the last block's track.
    Track,
    /// The end of the next track.
    NextTrack,
    /// A full segment.
    Segment,
    /// After a whole revolution: every sector of the last block's track.
    WholeTrack,
}

/// Read cache and write cache.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of a drive file"
)]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Segments of the read cache.
    pub read_segments: usize,
    /// Blocks in a segment.
    pub segment_blocks: u64,
    /// End of read-ahead.
    pub read_ahead: ReadAheadEnd,
    /// Most blocks of read-ahead.
    pub read_ahead_blocks: u64,
    /// Whether read-ahead may replace the requested blocks in a full segment.
    pub read_ahead_replaces_request: bool,
    /// Whether a read hit starts read-ahead.
    pub read_ahead_after_hit: bool,
    /// Whether sectors that pass before the requested ones are kept.
    pub keep_passing_sectors: bool,
    /// Whether reads access the sectors of a track in the order in which they pass.
    pub zero_latency_reads: bool,
    /// Whether writes access the sectors of a track in the order in which they pass.
    pub zero_latency_writes: bool,
    /// Whether writes complete when they are in the cache.
    pub write_cache: bool,
    /// Dirty blocks that the cache can hold.
    pub write_blocks: u64,
    /// Separate dirty ranges that the cache can hold.
    pub write_extents: usize,
    /// Segments of written blocks that can be read; 0 if written blocks cannot be read.
    pub written_segments: usize,
}

/// Command queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Most commands in the drive.
    pub depth: usize,
    /// Age at which a command precedes all younger ones.
    pub age_limit: Nanos,
}

/// A range of blocks with read retries.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeakRegion {
    /// First block.
    pub start: u64,
    /// Block after the last one.
    pub end: u64,
    /// Share of reads with retries.
    pub share: f64,
    /// Additional revolutions of such a read.
    pub retries: u32,
}

/// Drive-managed shingled recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shingling {
    /// Blocks in a band, the unit of rewriting.
    pub band_blocks: u64,
    /// Blocks of the persistent cache at the end of the medium.
    pub cache_blocks: u64,
    /// Idle time after which the drive cleans bands.
    pub idle: Nanos,
}

/// A disk drive.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskParameters {
    /// Recording surfaces, each with a head.
    pub surfaces: u32,
    /// Time of a revolution.
    pub period: Nanos,
    /// Blocks of the host.
    pub capacity: u64,
    /// Whether every other cylinder is filled from its last head to its first.
    pub serpentine: bool,
    /// Zones, from the outer one.
    pub zones: Vec<Zone>,
    /// Seek times by distance in cylinders.
    pub seek: Vec<(u32, Nanos)>,
    /// Time to activate another head.
    pub head_switch: Nanos,
    /// Additional settling before a write; may be negative.
    pub write_settle: i64,
    /// Processing times.
    pub overheads: Overheads,
    /// Connection to the host.
    pub bus: Bus,
    /// Caches.
    pub cache: Cache,
    /// Command queue.
    pub queue: Queue,
    /// Regions with read retries.
    pub weak_regions: Vec<WeakRegion>,
    /// Shingled recording, if the drive has it.
    pub shingling: Option<Shingling>,
}
