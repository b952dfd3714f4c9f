//! Source of a thread that moves records of its files.

use iostudy_pattern::{RecordSequence, nth};
use iostudy_schedulers::Nanos;

use crate::thread::{Kind, Operation, Source, Step};

/// Earliest end of a sleep after its time, and the width of its range: measured under Linux 6.18,
/// where half of the pauses of a millisecond ended up to 0.11 ms late. The kernel's timer slack is a
/// part of it (`PR_SET_TIMERSLACK`).
const LATENESS: (Nanos, Nanos) = (60_000, 100_000);

/// Direction of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// All are read.
    Read,
    /// All are written.
    Write,
    /// This many of 100 are read, the others written.
    Mix(u8),
}

/// End of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// After this many records.
    Records(u64),
    /// No record begins after this time.
    Time(Nanos),
}

/// Records of a thread's files.
#[derive(Clone, Debug)]
pub struct Records {
    /// Order of the records.
    pub sequence: RecordSequence,
    /// The files that the sequence counts.
    pub files: Vec<usize>,
    /// Direction.
    pub direction: Direction,
    /// End.
    pub length: Length,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// Whether each write ends with a sync.
    pub durable: bool,
    /// Number of written records after which their last file is synced; 0 means never. With a
    /// number every file is synced at the end. None without syncs.
    pub sync_every: Option<u64>,
    /// Time from the end of a record to the next one.
    pub think: Nanos,
    /// Seed of a mix.
    pub seed: u64,
    /// Records so far.
    pub next: u64,
    /// Written records so far, and the file of the last one if a sync is due.
    pub written: u64,
    /// File to sync next.
    pub due: Option<usize>,
    /// Files that were synced at the end.
    pub synced: usize,
}

impl Records {
    /// All records of a sequence once, buffered, without syncs and pauses.
    pub fn new(sequence: RecordSequence, files: Vec<usize>, direction: Direction) -> Self {
        Self {
            length: Length::Records(sequence.pass()),
            sequence,
            files,
            direction,
            direct: false,
            durable: false,
            sync_every: None,
            think: 0,
            seed: 0,
            next: 0,
            written: 0,
            due: None,
            synced: 0,
        }
    }

    fn is_over(&self, elapsed: Nanos) -> bool {
        match self.length {
            Length::Records(count) => self.next >= count,
            Length::Time(time) => elapsed >= time,
        }
    }

    fn kind(&self) -> Kind {
        match self.direction {
            Direction::Read => Kind::Read,
            Direction::Mix(percent) if nth(self.seed, self.next) % 100 < u64::from(percent) => {
                Kind::Read
            }
            Direction::Write | Direction::Mix(_) => Kind::Write,
        }
    }

    fn record(&mut self) -> Operation {
        let kind = self.kind();
        let (file, record) = self.sequence.at(self.next);
        let file = self.files[file];
        self.next += 1;
        if kind == Kind::Write {
            self.written += 1;
            let every = self.sync_every.unwrap_or(0);
            self.due = (every > 0 && self.written % every == 0).then_some(file);
        }
        Operation {
            kind,
            file,
            pieces: vec![record],
            direct: self.direct,
            durable: self.durable && kind == Kind::Write,
            costs_calls: true,
            then: self.pause(),
        }
    }

    /// The think time with the lateness of its end.
    fn pause(&self) -> Nanos {
        let (earliest, width) = LATENESS;
        match self.think {
            0 => 0,
            think => think + earliest + nth(!self.seed, self.next) % width,
        }
    }

    fn last_sync(&mut self) -> Option<Operation> {
        self.sync_every?;
        let file = *self.files.get(self.synced)?;
        self.synced += 1;
        Some(Operation::sync(file))
    }
}

impl Source for Records {
    fn next(&mut self, elapsed: Nanos) -> Step {
        if let Some(file) = self.due.take() {
            return Step::Run(Operation::sync(file));
        }
        if self.is_over(elapsed) {
            return self.last_sync().map_or(Step::End, Step::Run);
        }
        Step::Run(self.record())
    }
}

#[cfg(test)]
mod tests {
    use iostudy_pattern::{Layout, Order};

    use super::*;

    #[test]
    fn a_pause_ends_late() {
        let layout = Layout {
            files: 1,
            begin: 0,
            bytes: 8192,
            record_bytes: 4096,
        };
        let sequence = RecordSequence::new(layout, Order::Sequential, 1);
        let mut records = Records::new(sequence, vec![0], Direction::Read);
        assert_eq!(records.pause(), 0);
        records.think = 1_000_000;
        let pauses: Vec<_> = (0..100)
            .map(|next| Records {
                next,
                ..records.clone()
            })
            .map(|each| each.pause())
            .collect();
        assert!(
            pauses
                .iter()
                .all(|pause| (1_060_000..1_160_000).contains(pause))
        );
        assert!(pauses.iter().max().unwrap() - pauses.iter().min().unwrap() > 80_000);
    }
}
