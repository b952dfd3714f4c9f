//! Arm and spindle: times at which sectors pass under a head.

use crate::disk::geometry::{Geometry, Track};
use crate::disk::seek::SeekCurve;
use crate::disk::weak::WeakRegions;
use crate::request::Nanos;

/// Position of the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arm {
    /// Cylinder.
    pub cylinder: u32,
    /// Active head.
    pub head: u32,
    /// Whether the head is positioned for writing.
    pub writing: bool,
}

/// Position and time at the start of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Position of the arm.
    pub arm: Arm,
    /// Earliest time at which it moves.
    pub time: Nanos,
    /// Time at which the data of a write are in the drive.
    pub data_at: Nanos,
}

impl Start {
    /// Start of an access whose data are in the drive already.
    pub const fn new(arm: Arm, time: Nanos) -> Self {
        Self {
            arm,
            time,
            data_at: 0,
        }
    }
}

/// Position of the first sector of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Cylinder and head.
    pub arm: Arm,
    /// Whether the sector is read or written.
    pub access: Access,
    /// Time from the index mark to the sector.
    pub angle: Nanos,
}

/// Sectors of one track that pass under the head in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First block.
    pub block: u64,
    /// Number of blocks.
    pub blocks: u32,
    /// Time at which the head is on the track.
    pub ready: Nanos,
    /// Time at which the first sector begins to pass.
    pub begin: Nanos,
    /// Time at which the last sector has passed.
    pub end: Nanos,
    /// Position of the arm.
    pub arm: Arm,
}

impl Run {
    /// Time at which `blocks` sectors of the run have passed, so that `passed` counts them.
    pub fn time_of(&self, blocks: u32) -> Nanos {
        let sectors = (self.end - self.begin) * u64::from(blocks);
        self.begin + sectors.div_ceil(u64::from(self.blocks))
    }

    /// Sectors that have passed at `time`.
    pub fn passed(&self, time: Nanos) -> u32 {
        if time >= self.end {
            return self.blocks;
        }
        let share = time.saturating_sub(self.begin) * u64::from(self.blocks);
        u32::try_from(share / (self.end - self.begin)).expect("fewer sectors than the run has")
    }
}

/// Position of a track in a command: the first, or a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The command's first track.
    Start,
    /// A later track: the controller has prepared the change of head.
    Continue,
}

/// Whether sectors are read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// From the medium.
    Read,
    /// To the medium: the head settles longer.
    Write,
}

/// Times of the mechanics.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Map from blocks to tracks.
    pub geometry: Geometry,
    /// Seek times.
    pub seek: SeekCurve,
    /// Time of a revolution.
    pub period: Nanos,
    /// Time to activate the next head of the same cylinder during a transfer.
    pub head_switch: Nanos,
    /// Difference of settling before a write to settling before a read; may be negative.
    pub write_settle: i64,
    /// Regions with read retries.
    pub weak: WeakRegions,
}

impl Mechanism {
    /// Time to move the arm, without rotation.
    ///
    /// On the same track, a read after a write costs a seek to the adjacent cylinder: the read
    /// element has an offset from the write element. So does a new command on another
    /// head.
    pub fn movement(&self, from: Arm, to: Arm, access: Access, progress: Progress) -> Nanos {
        let distance = from.cylinder.abs_diff(to.cylinder);
        let base = match (distance, progress) {
            (0, _) if from.head == to.head => {
                let jog = from.writing && access == Access::Read;
                return if jog { self.seek.time(1) } else { 0 };
            }
            (0, Progress::Continue) => self.head_switch,
            (0, Progress::Start) => self.head_switch.max(self.seek.time(1)),
            _ => self.seek.time(distance),
        };
        match access {
            Access::Read => base,
            Access::Write => base.saturating_add_signed(self.write_settle),
        }
    }

    /// Time from `time` until sector `sector` of `track` begins to pass.
    pub fn rotation(&self, time: Nanos, track: &Track, sector: u32) -> Nanos {
        let target = track.angle + self.sector_time(track, sector);
        let now = time % self.period;
        (target + self.period - now) % self.period
    }

    /// Place of `block` for an access.
    pub fn target(&self, block: u64, access: Access) -> Target {
        let track = self.geometry.track(block);
        let sector = track.first_sector + offset(block, &track);
        Target {
            arm: arm_of(&track, access),
            access,
            angle: (track.angle + self.sector_time(&track, sector)) % self.period,
        }
    }

    /// Time from `time` until `target` begins to pass, for a new command; `None` if it is not
    /// below `limit`.
    pub fn positioning_below(
        &self,
        limit: Nanos,
        from: Arm,
        time: Nanos,
        target: &Target,
    ) -> Option<Nanos> {
        // Most commands of a deep queue end here, without a look at the large table of seek times.
        let bound = self.seek.bound(from.cylinder.abs_diff(target.arm.cylinder));
        if bound.saturating_add_signed(self.write_settle.min(0)) >= limit {
            return None;
        }
        let movement = self.movement(from, target.arm, target.access, Progress::Start);
        if movement >= limit {
            return None;
        }
        let angle = (time + movement) % self.period;
        let turn = if angle > target.angle { self.period } else { 0 };
        Some(movement + target.angle + turn - angle).filter(|positioning| *positioning < limit)
    }

    /// First run of an access in block order: all of `range`, or its blocks on the first track.
    pub fn run(&self, from: Start, range: (u64, u64), access: Access, progress: Progress) -> Run {
        let (block, end) = range;
        let track = self.geometry.track(block);
        let arm = arm_of(&track, access);
        let moved = from.time + self.movement(from.arm, arm, access, progress);
        let ready = moved.max(from.data_at);
        let skip = offset(block, &track);
        let begin = ready + self.rotation(ready, &track, track.first_sector + skip);
        let count = u64::from(track.blocks - skip).min(end - block);
        let count = u32::try_from(count).expect("no more sectors than a track has");
        let retries = match access {
            Access::Read => self.weak.retries(block, block + u64::from(count)),
            Access::Write => 0,
        };
        let begin = begin + self.period * retries;
        Run {
            block,
            blocks: count,
            ready,
            begin,
            end: begin + self.sector_time(&track, count),
            arm,
        }
    }

    /// Time of `sectors` sectors of `track`.
    pub fn sector_time(&self, track: &Track, sectors: u32) -> Nanos {
        self.period * u64::from(sectors) / u64::from(track.sectors)
    }
}

/// Arm position of an access to a track.
pub const fn arm_of(track: &Track, access: Access) -> Arm {
    Arm {
        writing: matches!(access, Access::Write),
        cylinder: track.cylinder,
        head: track.head,
    }
}

/// Blocks of `track` before `block`.
pub fn offset(block: u64, track: &Track) -> u32 {
    u32::try_from(block - track.first_block).expect("the block is on the track")
}
