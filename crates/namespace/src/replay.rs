//! One segment, from its first batch to where it ends.
//!
//! A batch is written only after the one before is durable. A crash leaves of the last batch some
//! sectors as they were before, which is zeros or nothing, for they may be written in any order;
//! the others hold what was written. Anything else is damage that was done since.

use crate::batch::{self, HEAD, Head};
use crate::error::{Damage, Error, Fault};
use crate::pieces::Pieces;
use crate::record::{self, LENGTH, LONGEST};
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
    /// With the last record of a batch, of this transaction, and it tells of no more.
    Whole(u64),
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
                // Of a batch whose head is damaged.
                None if self.record(u64::MAX)? => None,
                None if self.pieces.is_zero_from(self.at)? => Some(self.end()),
                None => {
                    let length = record::length(self.pieces.get(self.at, LENGTH)?);
                    let end = self.at + length.unwrap_or(0).max(HEAD) as u64;
                    self.damage(self.at, end)?
                }
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
        let last = self.expected - 1;
        if self.segment.ends_at(last) {
            End::Whole(last)
        } else {
            End::Damaged(self.here())
        }
    }

    /// What should lie from here to `end`, in a batch that began at `begin`, is not whole. How the
    /// segment ends, unless it goes on behind what another copy had.
    fn damage(&mut self, begin: u64, end: u64) -> Result<Option<End>, Error> {
        if self.expected <= self.replayed.last {
            let here = self.here();
            self.made_up.get_or_insert(here);
            return self.go_on(begin);
        }
        self.ended(begin, end).map(Some)
    }

    /// How the segment ends, where the next transaction should lie from here to `end`.
    fn ended(&mut self, begin: u64, end: u64) -> Result<End, Error> {
        let lost = self.expected;
        let mut was_whole = self.segment.last.is_some();
        was_whole |= !self.pieces.lacks_a_sector(begin, self.at, end)?;
        was_whole |= self
            .pieces
            .find(self.at, |piece| landmark(piece, |own| own.batch > lost))?
            .is_some();
        Ok(if was_whole {
            End::Damaged(self.here())
        } else {
            End::Torn(self.here())
        })
    }

    /// Go on behind this damage, of which nothing is needed, up to the next transaction. How the
    /// segment ends, if that is not among what is whole there.
    fn go_on(&mut self, begin: u64) -> Result<Option<End>, Error> {
        let (expected, next) = (self.expected, self.replayed.last + 1);
        let found = self.pieces.find(self.at + 1, |piece| {
            landmark(piece, |own| own.transaction >= expected)
        })?;
        let Some((piece, (at, landmark))) = found else {
            return Ok(Some(End::Damaged(self.here())));
        };
        let at = piece + at as u64;
        if landmark.transaction <= next {
            (self.at, self.expected) = (at, landmark.transaction);
            return Ok(None);
        }
        self.expected = next;
        self.ended(begin, at).map(Some)
    }

    fn here(&self) -> Damage {
        Damage {
            path: self.segment.path.clone(),
            offset: self.at,
            transaction: self.expected,
        }
    }
}

/// The head of a batch, or a record, that is whole.
struct Landmark {
    /// Its own, or the first behind it.
    transaction: u64,
    /// The first of its batch.
    batch: u64,
}

/// The first that is wanted in a piece, wherever it begins.
fn landmark(piece: &[u8], wanted: impl Fn(&Landmark) -> bool) -> Option<(usize, Landmark)> {
    let at = |at: usize| {
        let from = &piece[at..];
        let head = batch::head(from).map(|head| (head.first, 0));
        let (transaction, place) =
            head.or_else(|| record::next(from).map(|own| (own.id, own.place)))?;
        let batch = transaction.saturating_sub(place.into());
        Some((at, Landmark { transaction, batch }))
    };
    (0..piece.len())
        .filter_map(at)
        .find(|(_, landmark)| wanted(landmark))
}
