//! One segment, from its first batch to where it ends.
//!
//! A batch is written only after the one before is durable. A crash leaves of the last batch some
//! sectors as they were before, which is zeros or nothing, for they may be written in any order;
//! the others hold what was written. Anything else is damage that was done since.

use crate::batch::{self, HEAD, Head};
use crate::error::{Damage, Error, Fault};
use crate::pieces::Pieces;
use crate::record::{self, LENGTH, LONGEST, Record};
use crate::segment::{HEADER, Lying, has_header};
use crate::tree::Tree;

/// The tree after a transaction.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    pub(crate) tree: Tree,
    pub(crate) last: u64,
}

/// How a segment ends.
#[derive(Debug)]
pub(crate) enum End {
    /// With the last record of a batch, and it tells of no more.
    Whole,
    /// Within its last batch, as a crash leaves it.
    Torn(Damage),
    /// With something that was whole once: a later batch or the name of the segment shows it, or no
    /// crash leaves such a thing.
    Damaged(Damage),
    /// Where it could not be read.
    Unreadable(Fault),
}

/// Apply what the segment has of the next transactions, where it is whole; how it ends, and the
/// first damage before that, if what was lost by it had come from another copy.
///
/// # Errors
///
/// What was written cannot be done to the tree.
pub(crate) fn replay(
    segment: &Lying,
    replayed: &mut Replayed,
) -> Result<(End, Option<Damage>), Error> {
    let pieces = match Pieces::open(&segment.path) {
        Ok(pieces) => pieces,
        Err(fault) => return Ok((End::Unreadable(fault), None)),
    };
    let mut replay = Replay {
        segment,
        pieces,
        at: HEADER as u64,
        expected: segment.first,
        made_up: None,
        replayed,
    };
    let end = match replay.carry_out() {
        Err(Error::File(fault)) => End::Unreadable(fault),
        other => other?,
    };
    Ok((end, replay.made_up))
}

struct Replay<'a> {
    segment: &'a Lying,
    pieces: Pieces,
    /// The first byte that was not replayed yet.
    at: u64,
    /// The transaction that should begin there.
    expected: u64,
    /// The first damage that another copy made up for.
    made_up: Option<Damage>,
    replayed: &'a mut Replayed,
}

impl Replay<'_> {
    fn carry_out(&mut self) -> Result<End, Error> {
        let mut end = self.header()?;
        loop {
            if let Some(end) = end {
                return Ok(end);
            }
            let head = batch::head(self.pieces.get(self.at, HEAD)?);
            end = match head.filter(|head| head.first == self.expected) {
                Some(head) => self.batch(head)?,
                None if self.pieces.is_zero_from(self.at)? => Some(self.end()),
                // Of a batch whose head is damaged.
                None if self.record(u64::MAX)? => None,
                None => self.damage(self.at, self.at + HEAD as u64)?,
            };
        }
    }

    fn header(&mut self) -> Result<Option<End>, Error> {
        if has_header(self.pieces.get(0, HEADER)?, self.segment.first) {
            return Ok(None);
        }
        self.at = 0;
        self.damage(0, HEADER as u64)
    }

    /// Replay a batch; how the segment ends, if it ends there.
    fn batch(&mut self, head: Head) -> Result<Option<End>, Error> {
        let begin = self.at;
        self.at += HEAD as u64;
        let end = self.at.saturating_add(head.bytes);
        while self.at < end && head.holds(self.expected) {
            if !self.record(end)? {
                let found = self.pieces.get(self.at, LENGTH)?;
                let length = record::length(found).unwrap_or(LENGTH) as u64;
                let ended = self.damage(begin, end.min(self.at + length))?;
                if ended.is_some() {
                    return Ok(ended);
                }
            }
        }
        Ok(None)
    }

    /// Replay a record of the batch that ends there, if it is whole.
    fn record(&mut self, end: u64) -> Result<bool, Error> {
        let len = usize::try_from(end - self.at).map_or(LONGEST, |left| left.min(LONGEST));
        let Some(record) = record::next(self.pieces.get(self.at, len)?) else {
            return Ok(false);
        };
        if record.id != self.expected {
            return Ok(false);
        }
        if record.id == self.replayed.last + 1 {
            let done = self.replayed.tree.apply(&record.mutation);
            done.map_err(|refused| Error::OutOfOrder {
                path: self.segment.path.clone(),
                transaction: record.id,
                why: refused.to_string(),
            })?;
            self.replayed.last = record.id;
        }
        self.at += record.bytes as u64;
        self.expected += 1;
        Ok(true)
    }

    /// Nothing but zeros follow a whole batch.
    fn end(&self) -> End {
        if self.segment.ends_at(self.expected - 1) {
            End::Whole
        } else {
            End::Damaged(self.here())
        }
    }

    /// What should lie from here to `end`, in a batch that began at `begin`, is not whole. How the
    /// segment ends, unless it goes on behind what another copy had.
    fn damage(&mut self, begin: u64, end: u64) -> Result<Option<End>, Error> {
        let damage = self.here();
        let expected = self.expected;
        if expected <= self.replayed.last {
            self.made_up.get_or_insert(damage);
            return self.go_on();
        }
        let mut was_whole = self.segment.last.is_some();
        was_whole |= !self.pieces.lacks_a_sector(begin, self.at, end)?;
        was_whole |= self.pieces.find(self.at, begins_after(expected))?.is_some();
        Ok(Some(if was_whole {
            End::Damaged(damage)
        } else {
            End::Torn(damage)
        }))
    }

    /// Go on with the next transaction, if it lies whole somewhere behind this damage.
    fn go_on(&mut self) -> Result<Option<End>, Error> {
        let next = self.replayed.last + 1;
        let is_next = |record: &Record| record.id == next;
        let found = |piece: &[u8]| record::find(piece, is_next);
        if let Some((piece, at)) = self.pieces.find(self.at, found)? {
            (self.at, self.expected) = (piece + at as u64, next);
            return Ok(None);
        }
        let mut damage = self.here();
        if self.pieces.find(self.at, begins_after(next))?.is_some() {
            damage.transaction = next;
        }
        Ok(Some(End::Damaged(damage)))
    }

    fn here(&self) -> Damage {
        Damage {
            path: self.segment.path.clone(),
            offset: self.at,
            transaction: self.expected,
        }
    }
}

/// Whether a batch that began after the transaction `lost` lies in a piece.
fn begins_after(lost: u64) -> impl Fn(&[u8]) -> Option<()> {
    move |piece| {
        let later = |record: &Record| record.id.saturating_sub(record.place.into()) > lost;
        let head = batch::find(piece, |head| head.first > lost).is_some();
        (head || record::find(piece, later).is_some()).then_some(())
    }
}
