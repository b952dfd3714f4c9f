//! Read-ahead: the stream of blocks that the drive reads until another command needs the head.

use crate::disk::mechanism::{Access, Arm, Mechanism, Progress, Run, Start};
use crate::request::Nanos;

/// Blocks that are read in order from `start` on, each at its time.
#[derive(Clone, Debug)]
pub struct ReadAhead {
    current: Run,
    limit: u64,
    /// Front of the track that is read after the limit, and when it has been read.
    wrap: Option<(u64, Nanos)>,
}

impl ReadAhead {
    /// Stream of the blocks of `range` from arm position `from` at `time`.
    ///
    /// `None` if there is nothing to read.
    pub fn start(mechanism: &Mechanism, from: Arm, time: Nanos, range: (u64, u64)) -> Option<Self> {
        let limit = range.1.min(mechanism.geometry.blocks());
        let start = Start::new(from, time);
        (range.0 < limit).then(|| Self {
            current: mechanism.run(start, (range.0, limit), Access::Read, Progress::Continue),
            limit,
            wrap: None,
        })
    }

    /// After the limit, also read the front of the track, up to block `known`.
    pub fn with_wrap(mut self, mechanism: &Mechanism, known: u64) -> Self {
        let track = mechanism.geometry.track(known);
        if track.first_block <= known && mechanism.geometry.track(self.limit - 1) == track {
            let run = self.current;
            let start = Start::new(run.arm, run.end);
            let range = (track.first_block, known);
            if track.first_block < known {
                let front = mechanism.run(start, range, Access::Read, Progress::Continue);
                self.wrap = Some((track.first_block, front.end));
            }
        }
        self
    }

    /// First block that the stream holds at `time`, if it has read the front of the track.
    pub fn front(&self, time: Nanos) -> Option<u64> {
        self.wrap
            .filter(|(_, end)| *end <= time)
            .map(|(first, _)| first)
    }

    /// Extend the stream up to `limit`.
    pub fn extend(&mut self, mechanism: &Mechanism, limit: u64) {
        let limit = limit.min(mechanism.geometry.blocks());
        if limit <= self.limit {
            return;
        }
        let run = self.current;
        let track = mechanism.geometry.track(run.block);
        let behind = track.first_block + u64::from(track.blocks) - run.block;
        let blocks = u32::try_from(behind.min(limit - run.block)).expect("a track's sectors");
        self.current = Run {
            blocks,
            end: run.begin + mechanism.sector_time(&track, blocks),
            ..run
        };
        self.limit = limit;
    }

    /// Block after the last one that has been read at `time`; `time` never decreases.
    pub fn position(&mut self, mechanism: &Mechanism, time: Nanos) -> u64 {
        while self.current.end <= time && self.run_end() < self.limit {
            self.next_run(mechanism);
        }
        self.current.block + u64::from(self.current.passed(time))
    }

    /// Position of the arm after `position(time)`.
    pub const fn arm(&self) -> Arm {
        self.current.arm
    }

    /// Time at which every block before `end` has been read; `end` is at most the limit.
    pub fn time_of(&mut self, mechanism: &Mechanism, end: u64) -> Nanos {
        let mut ahead = self.clone();
        while ahead.run_end() < end {
            ahead.next_run(mechanism);
        }
        let blocks = u32::try_from(end.saturating_sub(ahead.current.block));
        ahead
            .current
            .time_of(blocks.expect("a run is on one track"))
    }

    /// End time of the stream.
    pub fn end(&self, mechanism: &Mechanism) -> Nanos {
        self.clone().time_of(mechanism, self.limit)
    }

    const fn run_end(&self) -> u64 {
        self.current.block + self.current.blocks as u64
    }

    fn next_run(&mut self, mechanism: &Mechanism) {
        let block = self.run_end();
        let start = Start::new(self.current.arm, self.current.end);
        let range = (block, self.limit);
        self.current = mechanism.run(start, range, Access::Read, Progress::Continue);
    }
}
