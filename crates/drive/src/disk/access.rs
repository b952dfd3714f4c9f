//! Media accesses: the runs of sectors that serve a range of blocks.

use crate::disk::mechanism::{Access, Arm, Mechanism, Progress, Run, Start, offset};
use crate::request::Nanos;

/// Runs of an access, in the order in which they pass under the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaAccess {
    /// Runs; those of different tracks are in block order.
    pub runs: Vec<Run>,
    /// First block that the access reads on the way to the first requested one.
    pub first_block: u64,
    /// Time at which the last block has passed.
    pub end: Nanos,
    /// Position of the arm at `end`.
    pub arm: Arm,
}

impl MediaAccess {
    /// Continue with another access.
    pub fn append(&mut self, next: Self) {
        self.runs.extend(next.runs);
        self.end = next.end;
        self.arm = next.arm;
    }
}

/// Access to the blocks of `range`.
///
/// With `on_arrival`, sectors are accessed in the order in which they pass (zero-latency access);
/// otherwise in block order.
pub fn plan(
    mechanism: &Mechanism,
    start: Start,
    range: (u64, u64),
    access: Access,
    on_arrival: bool,
) -> MediaAccess {
    let (mut block, end) = range;
    let mut runs = Vec::with_capacity(2);
    let (mut from, mut progress) = (start, Progress::Start);
    let mut first_block = block;
    while block < end {
        let run = mechanism.run(from, (block, end), access, progress);
        if runs.is_empty() {
            first_block = block - passing_before(mechanism, &run);
        }
        let [first, second] = if on_arrival {
            arrival_parts(mechanism, &run)
        } else {
            [Some(run), None]
        };
        runs.extend(first);
        runs.extend(second);
        from = Start::new(run.arm, runs.last().map_or(run.end, |part| part.end));
        progress = Progress::Continue;
        block += u64::from(run.blocks);
    }
    MediaAccess {
        runs,
        first_block,
        end: from.time,
        arm: from.arm,
    }
}

/// Blocks of the track that pass between the arrival of the head and `run`.
fn passing_before(mechanism: &Mechanism, run: &Run) -> u64 {
    let track = mechanism.geometry.track(run.block);
    let passing = (run.begin - run.ready) * u64::from(track.sectors) / mechanism.period;
    passing.min(u64::from(offset(run.block, &track)))
}

/// A run split at the head's arrival: the sectors that pass first, then the missed ones.
fn arrival_parts(mechanism: &Mechanism, run: &Run) -> [Option<Run>; 2] {
    let turned = run.begin.checked_sub(mechanism.period).map(|begin| Run {
        begin,
        end: run.end - mechanism.period,
        ..*run
    });
    let Some(turned) = turned.filter(|turned| run.ready < turned.end) else {
        return [Some(*run), None];
    };
    let missed = (turned.passed(run.ready) + 1).min(run.blocks);
    if missed == run.blocks {
        return [Some(*run), None];
    }
    let first = Run {
        block: run.block + u64::from(missed),
        blocks: run.blocks - missed,
        begin: turned.time_of(missed),
        ..turned
    };
    let second = Run {
        blocks: missed,
        end: run.time_of(missed),
        ..*run
    };
    [Some(first), Some(second)]
}
