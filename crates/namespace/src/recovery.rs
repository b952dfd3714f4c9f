//! The tree as it was acknowledged, from the newest image and the log behind it.
//!
//! Every directory holds a copy. Where one lacks a transaction or has it damaged, another that has
//! it whole is read. A batch is written only after the one before is durable: so what no copy has
//! was never acknowledged if nothing but the rest of its own batch follows, and is an error, with
//! its transaction named, if a later batch does.

use std::fs;
use std::path::PathBuf;

use crate::error::{Damage, Error, Fault};
use crate::image;
use crate::mutation::Mutation;
use crate::record::{self, Found};
use crate::segment::{HEADER, Lying, has_header, lying};
use crate::tree::Tree;

/// What was found in the directories.
#[derive(Debug)]
pub struct Recovered {
    /// The tree after the last transaction that is whole.
    pub tree: Tree,
    /// That transaction; 0 if there is none.
    pub last: u64,
    /// Where copies end with something that is no whole record: the batch that a crash cut off, or
    /// damage that was done to the last batch since.
    pub torn: Vec<Damage>,
}

/// Recover from the copies of one log.
///
/// # Errors
///
/// A file cannot be read; a transaction is missing or damaged in every copy although it was
/// acknowledged; or the log does not follow from itself.
pub fn recover(directories: &[PathBuf]) -> Result<Recovered, Error> {
    let (tree, last) = newest_image(directories)?;
    let mut recovered = Recovered {
        tree,
        last,
        torn: Vec::new(),
    };
    let mut segments = Vec::new();
    for directory in directories {
        segments.extend(lying(directory)?);
    }
    segments.sort_by_key(|segment| segment.first);
    loop {
        let before = recovered.last;
        let mut ends = Vec::new();
        for segment in &segments {
            if segment.may_hold(recovered.last + 1) {
                ends.extend(replay(segment, &mut recovered)?);
            }
        }
        if recovered.last == before {
            return conclude(recovered, ends, &segments);
        }
    }
}

/// Where a segment ends with something that is not its next record.
struct End {
    damage: Damage,
    /// A batch behind it, or the name of the segment, shows that it was durable once.
    was_durable: bool,
}

fn conclude(recovered: Recovered, ends: Vec<End>, segments: &[Lying]) -> Result<Recovered, Error> {
    let next = recovered.last + 1;
    if let Some(end) = ends.iter().find(|end| end.was_durable) {
        return Err(Error::Damaged(end.damage.clone()));
    }
    if let Some(beyond) = segments.iter().find(|segment| segment.first > next) {
        let path = beyond.path.clone();
        return Err(Error::Damaged(Damage {
            path,
            offset: 0,
            transaction: next,
        }));
    }
    let torn = ends.into_iter().map(|end| end.damage).collect();
    Ok(Recovered { torn, ..recovered })
}

fn newest_image(directories: &[PathBuf]) -> Result<(Tree, u64), Error> {
    let mut images = Vec::new();
    for directory in directories {
        images.extend(image::lying(directory)?);
    }
    images.sort_by_key(|(last, _)| std::cmp::Reverse(*last));
    for (_, path) in images {
        if let Some(found) = image::decode(&read(&path)?) {
            return Ok(found);
        }
    }
    Ok((Tree::default(), 0))
}

/// Apply what the segment has of the next transactions; where it ends, unless that is as it should.
fn replay(segment: &Lying, recovered: &mut Recovered) -> Result<Option<End>, Error> {
    let bytes = read(&segment.path)?;
    let mut is_damaged = !has_header(&bytes, segment.first);
    let (mut rest, mut expected) = (bytes.get(HEADER..).unwrap_or_default(), segment.first);
    loop {
        match if is_damaged {
            Found::Damage
        } else {
            record::next(rest)
        } {
            Found::Record {
                id,
                mutation,
                bytes,
                ..
            } if id == expected => {
                if id == recovered.last + 1 {
                    apply(&mutation, segment, recovered)?;
                }
                rest = &rest[bytes..];
                expected += 1;
            }
            Found::End if segment.ends_at(expected - 1) => return Ok(None),
            // Another copy had it: go on with what comes next, if that is here.
            _ if expected <= recovered.last => match record::find(rest, recovered.last + 1) {
                Some(found) => {
                    (rest, expected, is_damaged) = (found, recovered.last + 1, false);
                }
                None => return Ok(None),
            },
            _ => {
                let was_durable = segment.last.is_some() || record::later_batch(rest, expected);
                let damage = Damage {
                    path: segment.path.clone(),
                    offset: (bytes.len() - rest.len()) as u64,
                    transaction: expected,
                };
                return Ok(Some(End {
                    damage,
                    was_durable,
                }));
            }
        }
    }
}

fn apply(mutation: &Mutation, segment: &Lying, recovered: &mut Recovered) -> Result<(), Error> {
    let transaction = recovered.last + 1;
    recovered
        .tree
        .apply(mutation)
        .map_err(|refused| Error::OutOfOrder {
            path: segment.path.clone(),
            transaction,
            why: refused.to_string(),
        })?;
    recovered.last = transaction;
    Ok(())
}

fn read(path: &PathBuf) -> Result<Vec<u8>, Fault> {
    fs::read(path).map_err(Fault::of_std(path, "read"))
}
