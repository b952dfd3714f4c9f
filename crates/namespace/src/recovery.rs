//! The tree as it was acknowledged, from the newest image and the log behind it.
//!
//! Every directory holds a copy. Where one lacks a transaction, has it damaged or cannot be read,
//! another that has it whole is read. What no copy has is an error, with its transaction named, if
//! it was acknowledged or if no crash leaves it so: see [`replay`].

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Damage, Defect, Error, Fault, Findings};
use crate::image;
use crate::replay::{End, Replayed, replay};
use crate::segment::{Lying, lying};
use crate::tree::Tree;

/// What was found in the directories.
#[derive(Debug)]
pub struct Recovered {
    /// The tree after the last transaction that is whole.
    pub tree: Tree,
    /// That transaction; 0 if there is none.
    pub last: u64,
    /// What is not as it was written.
    pub findings: Findings,
}

/// Recover from the copies of one log.
///
/// # Errors
///
/// A transaction is missing or damaged in every copy that can be read, although it was durable once;
/// no other copy has what may lie in a file or directory that cannot be read; or the log does not
/// follow from itself.
pub fn recover(directories: &[PathBuf]) -> Result<Recovered, Error> {
    let mut copies = Copies::list(directories);
    let mut replayed = copies.newest_image();
    let mut ends = BTreeMap::new();
    loop {
        let before = replayed.last;
        for segment in &copies.segments {
            if segment.may_hold(replayed.last + 1) {
                let (end, made_up) = replay(segment, &mut replayed)?;
                if let Some(damage) = made_up {
                    note(&mut copies.defects, Defect::Segment(damage));
                }
                ends.insert(segment.path.clone(), end);
            }
        }
        if replayed.last == before {
            return copies.conclude(ends, replayed);
        }
    }
}

/// What lies in the directories that can be read, and what cannot be used.
#[derive(Default)]
struct Copies {
    /// In the order of their first transactions.
    segments: Vec<Lying>,
    /// The newest first.
    images: Vec<(u64, PathBuf)>,
    unreadable: Vec<Fault>,
    defects: Vec<Defect>,
}

impl Copies {
    fn list(directories: &[PathBuf]) -> Self {
        let mut own = Self::default();
        for directory in directories {
            let found = lying(directory).and_then(|own| Ok((own, image::lying(directory)?)));
            match found {
                Ok((segments, images)) => {
                    own.segments.extend(segments);
                    own.images.extend(images);
                }
                Err(fault) => own.unreadable.push(fault),
            }
        }
        own.segments.sort_by_key(|segment| segment.first);
        own.images.sort_by_key(|(last, _)| std::cmp::Reverse(*last));
        own
    }

    /// The tree of the newest image that is whole.
    fn newest_image(&mut self) -> Replayed {
        for (last, path) in &self.images {
            let defect = match fs::read(path).map_err(Fault::of_std(path, "read")) {
                Ok(bytes) => match image::decode(&bytes) {
                    Some((tree, own)) if own == *last => return Replayed { tree, last: own },
                    _ => Defect::Image(path.clone()),
                },
                Err(fault) => Defect::Unreadable(fault),
            };
            self.defects.push(defect);
        }
        Replayed::default()
    }

    /// The file that shows the most to have been durable before it was made, up to where.
    fn shown(&self) -> Option<(u64, &Path)> {
        let images = self.images.iter().map(|(last, path)| (*last, &**path));
        let segments = self.segments.iter().map(|own| (own.follows(), &*own.path));
        images.chain(segments).max_by_key(|(shown, _)| *shown)
    }

    /// What was recovered, unless more was durable once or may lie where it cannot be read.
    fn conclude(
        mut self,
        mut ends: BTreeMap<PathBuf, End>,
        Replayed { tree, last }: Replayed,
    ) -> Result<Recovered, Error> {
        let mut reached = Reached::default();
        for segment in &self.segments {
            if let Some(end) = ends.remove(&segment.path) {
                if let Some(defect) = reached.add(segment, end, last) {
                    note(&mut self.defects, defect);
                }
            }
        }
        let transaction = last + 1;
        if let Some(fault) = self.unread(&reached) {
            return Err(Error::Unreadable { fault, transaction });
        }
        let unreadable = std::mem::take(&mut self.unreadable).into_iter();
        self.defects.extend(unreadable.map(Defect::Unreadable));
        if let Some(damage) = reached.damaged {
            let defects = self.defects;
            return Err(Error::Damaged { damage, defects });
        }
        if let Some((_, path)) = self.shown().filter(|(shown, _)| *shown > last) {
            return Err(Error::Missing {
                transaction,
                shown_by: path.to_owned(),
                defects: self.defects,
            });
        }
        let findings = Findings {
            torn: reached.torn,
            defects: self.defects,
        };
        Ok(Recovered {
            tree,
            last,
            findings,
        })
    }

    /// Why nobody can tell whether there are more transactions.
    fn unread(&self, reached: &Reached) -> Option<Fault> {
        let no_copy = self.segments.is_empty() && self.images.is_empty();
        let directory = self.unreadable.first().filter(|_| no_copy);
        directory.or(reached.unread()).cloned()
    }
}

/// How far the copies go that end behind the last transaction that any has.
#[derive(Default)]
struct Reached {
    /// From this transaction on, one was read to its end.
    read_from: u64,
    torn: Vec<Damage>,
    damaged: Option<Damage>,
    /// From these transactions on, copies cannot be read.
    unread: Vec<(u64, Fault)>,
}

impl Reached {
    /// How a segment ends; as a defect if nothing up to `last` was lost by it.
    fn add(&mut self, segment: &Lying, end: End, last: u64) -> Option<Defect> {
        match end {
            End::Torn(damage) | End::Damaged(damage) if damage.transaction <= last => {
                return Some(Defect::Segment(damage));
            }
            End::Damaged(damage) => self.damaged = self.damaged.take().or(Some(damage)),
            End::Torn(damage) => {
                self.torn.push(damage);
                self.read_from = self.read_from.max(segment.first);
            }
            End::Whole(own) if own == last => {
                self.read_from = self.read_from.max(segment.first);
            }
            End::Whole(_) => {}
            End::Unreadable(fault) => {
                if segment.may_hold(last + 1) {
                    self.unread.push((segment.first, fault.clone()));
                }
                return Some(Defect::Unreadable(fault));
            }
        }
        None
    }

    /// What no copy was read beside.
    fn unread(&self) -> Option<&Fault> {
        let alone = |(first, _): &&(u64, Fault)| *first > self.read_from;
        self.unread.iter().find(alone).map(|(_, fault)| fault)
    }
}

/// Of each file the first defect.
fn note(defects: &mut Vec<Defect>, defect: Defect) {
    if !defects.iter().any(|known| known.path() == defect.path()) {
        defects.push(defect);
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    /// Beside a segment that cannot be read behind 300: what another one shows that begins at
    /// `first` and is whole up to `last`.
    fn is_unread(first: u64, last: u64) -> bool {
        let path = PathBuf::from("/log/edits");
        let fault = Fault::of(&path, "read")(Errno::IO);
        let segment = |first| Lying {
            path: path.clone(),
            first,
            last: None,
        };
        let mut reached = Reached::default();
        reached.add(&segment(201), End::Unreadable(fault), 300);
        reached.add(&segment(first), End::Whole(last), 300);
        reached.unread().is_some()
    }

    #[test]
    fn only_a_copy_that_goes_as_far_shows_that_there_is_no_more() {
        assert!(!is_unread(201, 300));
        assert!(is_unread(201, 250), "it was dropped before");
        assert!(is_unread(1, 300), "it ended before the other one began");
    }
}
