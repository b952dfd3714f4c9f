//! Recovery of the acknowledged tree from the newest image and its log.
//!
//! Every directory has a copy. Where one copy is incomplete, damaged or unreadable, another intact
//! copy is used. A transaction without an intact copy is an error if it was acknowledged or if no
//! crash leaves such a state: see [`replay`].

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Damage, Defect, Error, Fault, Findings};
use crate::image;
use crate::replay::{End, ReplayState, replay};
use crate::segment::{SegmentFile, list_segments};
use crate::tree::Tree;

/// Result of a recovery.
#[derive(Debug)]
pub struct Recovery {
    /// Tree after the last intact transaction.
    pub tree: Tree,
    /// Last intact transaction; 0 if there is none.
    pub last: u64,
    /// Anomalies of the log.
    pub findings: Findings,
}

/// Recover from the copies of one log.
///
/// # Errors
///
/// A durable transaction is missing or damaged in every readable copy; an unreadable file or
/// directory has no substitute; or the log is inconsistent.
pub fn recover(directories: &[PathBuf]) -> Result<Recovery, Error> {
    let mut files = LogFiles::list(directories);
    let mut state = files.newest_image();
    let mut ends = BTreeMap::new();
    loop {
        let before = state.last;
        for segment in &files.segments {
            if segment.may_contain(state.last + 1) {
                let (end, repaired) = replay(segment, &mut state)?;
                if let Some(damage) = repaired {
                    add_defect(&mut files.defects, Defect::Segment(damage));
                }
                ends.insert(segment.path.clone(), end);
            }
        }
        if state.last == before {
            return files.into_recovery(ends, state);
        }
    }
}

/// Log files of all readable directories, and unusable ones.
#[derive(Default)]
struct LogFiles {
    /// Sorted by first transaction.
    segments: Vec<SegmentFile>,
    /// Newest first.
    images: Vec<(u64, PathBuf)>,
    unreadable: Vec<Fault>,
    defects: Vec<Defect>,
}

impl LogFiles {
    fn list(directories: &[PathBuf]) -> Self {
        let mut own = Self::default();
        for directory in directories {
            let found =
                list_segments(directory).and_then(|own| Ok((own, image::list_images(directory)?)));
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

    /// Tree of the newest intact image.
    fn newest_image(&mut self) -> ReplayState {
        for (last, path) in &self.images {
            let defect = match fs::read(path).map_err(Fault::from_io_error(path, "read")) {
                Ok(bytes) => match image::decode(&bytes) {
                    Some((tree, own)) if own == *last => return ReplayState { tree, last: own },
                    _ => Defect::Image(path.clone()),
                },
                Err(fault) => Defect::Unreadable(fault),
            };
            self.defects.push(defect);
        }
        ReplayState::default()
    }

    /// File that proves the highest durable transaction, with that transaction.
    fn durability_evidence(&self) -> Option<(u64, &Path)> {
        let images = self.images.iter().map(|(last, path)| (*last, &**path));
        let segments = self
            .segments
            .iter()
            .map(|own| (own.durable_before(), &*own.path));
        images
            .chain(segments)
            .max_by_key(|(transaction, _)| *transaction)
    }

    /// Build the recovery result, unless durable transactions are missing or unreadable.
    fn into_recovery(
        mut self,
        mut ends: BTreeMap<PathBuf, End>,
        ReplayState { tree, last }: ReplayState,
    ) -> Result<Recovery, Error> {
        let mut coverage = Coverage::default();
        for segment in &self.segments {
            if let Some(end) = ends.remove(&segment.path) {
                if let Some(defect) = coverage.add(segment, end, last) {
                    add_defect(&mut self.defects, defect);
                }
            }
        }
        let transaction = last + 1;
        if let Some(fault) = self.unreadable_gap(&coverage) {
            return Err(Error::Unreadable { fault, transaction });
        }
        let unreadable = std::mem::take(&mut self.unreadable).into_iter();
        self.defects.extend(unreadable.map(Defect::Unreadable));
        if let Some(damage) = coverage.damaged {
            let defects = self.defects;
            return Err(Error::Damaged { damage, defects });
        }
        if let Some((_, path)) = self
            .durability_evidence()
            .filter(|(durable, _)| *durable > last)
        {
            return Err(Error::Missing {
                transaction,
                evidence: path.to_owned(),
                defects: self.defects,
            });
        }
        let findings = Findings {
            torn: coverage.torn,
            defects: self.defects,
        };
        Ok(Recovery {
            tree,
            last,
            findings,
        })
    }

    /// Fault that hides possible further transactions.
    fn unreadable_gap(&self, coverage: &Coverage) -> Option<Fault> {
        let no_copy = self.segments.is_empty() && self.images.is_empty();
        let directory = self.unreadable.first().filter(|_| no_copy);
        directory.or(coverage.unreadable_gap()).cloned()
    }
}

/// Coverage of the log by copies that end after the last recovered transaction.
#[derive(Default)]
struct Coverage {
    /// First transaction of a copy that was read to its end.
    read_from: u64,
    torn: Vec<Damage>,
    damaged: Option<Damage>,
    /// Unreadable copies with their first transactions.
    unreadable_gap: Vec<(u64, Fault)>,
}

impl Coverage {
    /// Add the end of a segment. Return a defect if nothing up to `last` was lost.
    fn add(&mut self, segment: &SegmentFile, end: End, last: u64) -> Option<Defect> {
        match end {
            End::Torn(damage) | End::Damaged(damage) if damage.transaction <= last => {
                return Some(Defect::Segment(damage));
            }
            End::Damaged(damage) => self.damaged = self.damaged.take().or(Some(damage)),
            End::Torn(damage) => {
                self.torn.push(damage);
                self.read_from = self.read_from.max(segment.first);
            }
            End::Complete(own) if own == last => {
                self.read_from = self.read_from.max(segment.first);
            }
            End::Complete(_) => {}
            End::Unreadable(fault) => {
                if segment.may_contain(last + 1) {
                    self.unreadable_gap.push((segment.first, fault.clone()));
                }
                return Some(Defect::Unreadable(fault));
            }
        }
        None
    }

    /// Unreadable copy that no other copy covers.
    fn unreadable_gap(&self) -> Option<&Fault> {
        let alone = |(first, _): &&(u64, Fault)| *first > self.read_from;
        self.unreadable_gap
            .iter()
            .find(alone)
            .map(|(_, fault)| fault)
    }
}

/// Keep the first defect of each file.
fn add_defect(defects: &mut Vec<Defect>, defect: Defect) {
    if !defects.iter().any(|known| known.path() == defect.path()) {
        defects.push(defect);
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    /// Two segments, one unreadable after 300: whether another one from `first` to `last` covers
    /// it.
    fn is_unread(first: u64, last: u64) -> bool {
        let path = PathBuf::from("/log/edits");
        let fault = Fault::in_call(&path, "read")(Errno::IO);
        let segment = |first| SegmentFile {
            path: path.clone(),
            first,
            last: None,
        };
        let mut coverage = Coverage::default();
        coverage.add(&segment(201), End::Unreadable(fault), 300);
        coverage.add(&segment(first), End::Complete(last), 300);
        coverage.unreadable_gap().is_some()
    }

    #[test]
    fn only_a_copy_with_the_same_range_covers_an_unreadable_one() {
        assert!(!is_unread(201, 300));
        assert!(is_unread(201, 250), "the copy was dropped earlier");
        assert!(
            is_unread(1, 300),
            "the copy ended before the other one began"
        );
    }
}
