//! Replay of one segment up to its end.
//!
//! A batch is written only after its predecessor is durable. A crash can leave sectors of the last
//! batch unwritten, in any order: they are zeros or beyond the end. Any other difference is later
//! damage.

use crate::batch::{self, BatchHeader, HEADER_BYTES};
use crate::chunked_file::ChunkedFile;
use crate::error::{Damage, Error, Fault};
use crate::record::{self, LENGTH_BYTES, MAX_RECORD_BYTES};
use crate::segment::{HEADER, SegmentFile, has_header};
use crate::tree::Tree;

/// Tree after a transaction.
#[derive(Debug, Default)]
pub(crate) struct ReplayState {
    pub(crate) tree: Tree,
    pub(crate) last: u64,
}

/// End of a segment.
#[derive(Debug)]
pub(crate) enum End {
    /// The segment ends with the last record of a batch, at this transaction.
    Complete(u64),
    /// It ends within its last batch, as after a crash.
    Torn(Damage),
    /// It ends at damage: a later batch or the file name shows that the data were complete.
    Damaged(Damage),
    /// It ends at a read error.
    Unreadable(Fault),
}

/// Apply the next transactions of the segment. Return its end, and the first damage that another
/// copy repaired.
///
/// # Errors
///
/// A transaction cannot be applied to the tree.
pub(crate) fn replay(
    segment: &SegmentFile,
    state: &mut ReplayState,
) -> Result<(End, Option<Damage>), Error> {
    let file = match ChunkedFile::open(&segment.path) {
        Ok(file) => file,
        Err(fault) => return Ok((End::Unreadable(fault), None)),
    };
    let mut replay = Replay {
        segment,
        file,
        at: HEADER as u64,
        expected: segment.first,
        repaired: None,
        state,
    };
    let end = match replay.run() {
        Err(Error::File(fault)) => End::Unreadable(fault),
        other => other?,
    };
    Ok((end, replay.repaired))
}

struct Replay<'a> {
    segment: &'a SegmentFile,
    file: ChunkedFile,
    /// Offset of the next byte to replay.
    at: u64,
    /// Transaction that is expected there.
    expected: u64,
    /// First damage that another copy repaired.
    repaired: Option<Damage>,
    state: &'a mut ReplayState,
}

impl Replay<'_> {
    fn run(&mut self) -> Result<End, Error> {
        let mut end = self.header()?;
        loop {
            if let Some(end) = end {
                return Ok(end);
            }
            let header = batch::parse_header(self.file.get(self.at, HEADER_BYTES)?);
            end = match header.filter(|header| header.first == self.expected) {
                Some(header) => self.batch(header)?,
                // A record of a batch with a damaged header.
                None if self.record(u64::MAX)? => None,
                None if self.file.is_zero_from(self.at)? => Some(self.end()),
                None => {
                    let length = record::length(self.file.get(self.at, LENGTH_BYTES)?);
                    let end = self.at + length.unwrap_or(0).max(HEADER_BYTES) as u64;
                    self.damage(self.at, end)?
                }
            };
        }
    }

    fn header(&mut self) -> Result<Option<End>, Error> {
        if has_header(self.file.get(0, HEADER)?, self.segment.first) {
            return Ok(None);
        }
        self.at = 0;
        self.damage(0, HEADER as u64)
    }

    /// Replay a batch. Return the end of the segment if it ends there.
    fn batch(&mut self, header: BatchHeader) -> Result<Option<End>, Error> {
        let begin = self.at;
        self.at += HEADER_BYTES as u64;
        let end = self.at.saturating_add(header.bytes);
        while self.at < end && header.contains(self.expected) {
            if !self.record(end)? {
                let found = self.file.get(self.at, LENGTH_BYTES)?;
                let length = record::length(found).unwrap_or(LENGTH_BYTES) as u64;
                let ended = self.damage(begin, end.min(self.at + length))?;
                if ended.is_some() {
                    return Ok(ended);
                }
            }
        }
        Ok(None)
    }

    /// Replay an intact record of the batch that ends at `end`.
    fn record(&mut self, end: u64) -> Result<bool, Error> {
        let len = usize::try_from(end - self.at)
            .map_or(MAX_RECORD_BYTES, |left| left.min(MAX_RECORD_BYTES));
        let Some(record) = record::parse(self.file.get(self.at, len)?) else {
            return Ok(false);
        };
        if record.id != self.expected {
            return Ok(false);
        }
        if record.id == self.state.last + 1 {
            let done = self.state.tree.apply(&record.mutation);
            done.map_err(|refused| Error::OutOfOrder {
                path: self.segment.path.clone(),
                transaction: record.id,
                why: refused.to_string(),
            })?;
            self.state.last = record.id;
        }
        self.at += record.bytes as u64;
        self.expected += 1;
        Ok(true)
    }

    /// End after a complete batch, before zeros.
    fn end(&self) -> End {
        let last = self.expected - 1;
        if self.segment.ends_at(last) {
            End::Complete(last)
        } else {
            End::Damaged(self.current_damage())
        }
    }

    /// Handle damage up to `end` in a batch from `begin`. Return the end of the segment, unless
    /// another copy had the data.
    fn damage(&mut self, begin: u64, end: u64) -> Result<Option<End>, Error> {
        if self.expected <= self.state.last {
            let current_damage = self.current_damage();
            self.repaired.get_or_insert(current_damage);
            return self.skip_damage(begin);
        }
        self.classify_end(begin, end).map(Some)
    }

    /// Classify the end of a segment whose next transaction is damaged up to `end`.
    fn classify_end(&mut self, begin: u64, end: u64) -> Result<End, Error> {
        let expected = self.expected;
        let mut was_whole = self.segment.last.is_some();
        was_whole |= !self.file.has_missing_sector(begin, self.at, end)?;
        was_whole |= self
            .file
            .find(self.at, |chunk| {
                find_intact(chunk, |own| own.batch > expected)
            })?
            .is_some();
        Ok(if was_whole {
            End::Damaged(self.current_damage())
        } else {
            End::Torn(self.current_damage())
        })
    }

    /// Skip damage that another copy repaired, up to the next transaction. Return the end of the
    /// segment if that transaction is not intact there.
    fn skip_damage(&mut self, begin: u64) -> Result<Option<End>, Error> {
        let (expected, next) = (self.expected, self.state.last + 1);
        let found = self.file.find(self.at + 1, |chunk| {
            find_intact(chunk, |own| own.transaction >= expected)
        })?;
        let Some((chunk, (at, entry))) = found else {
            return Ok(Some(End::Damaged(self.current_damage())));
        };
        let at = chunk + at as u64;
        if entry.transaction <= next {
            (self.at, self.expected) = (at, entry.transaction);
            return Ok(None);
        }
        self.expected = next;
        self.classify_end(begin, at).map(Some)
    }

    fn current_damage(&self) -> Damage {
        Damage {
            path: self.segment.path.clone(),
            offset: self.at,
            transaction: self.expected,
        }
    }
}

/// Intact batch header or record.
struct IntactEntry {
    /// Its transaction, or the first of its batch.
    transaction: u64,
    /// First transaction of its batch.
    batch: u64,
}

/// First intact entry in a chunk that satisfies `wanted`, at any offset.
fn find_intact(
    chunk: &[u8],
    wanted: impl Fn(&IntactEntry) -> bool,
) -> Option<(usize, IntactEntry)> {
    let at = |at: usize| {
        let from = &chunk[at..];
        let header = batch::parse_header(from).map(|header| (header.first, 0));
        let (transaction, position) =
            header.or_else(|| record::parse(from).map(|own| (own.id, own.position)))?;
        let batch = transaction.saturating_sub(position.into());
        Some((at, IntactEntry { transaction, batch }))
    };
    (0..chunk.len())
        .filter_map(at)
        .find(|(_, entry)| wanted(entry))
}
