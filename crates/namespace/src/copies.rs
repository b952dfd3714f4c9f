//! The copies of the log, one in each directory, and how a batch comes to all of them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use crate::error::{Dropped, Fault};
use crate::segment::Segment;

/// How several directories are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// One after another.
    InTurn,
    /// All at once, a thread for each.
    Parallel,
}

/// Those that have not failed.
pub(crate) enum Copies {
    InTurn(Vec<Segment>),
    Parallel(Vec<Hand>),
}

/// A thread that appends to one copy.
pub(crate) struct Hand {
    directory: PathBuf,
    batches: Sender<Arc<Vec<u8>>>,
    outcomes: Receiver<Result<(), Fault>>,
    thread: JoinHandle<Segment>,
}

impl Copies {
    pub(crate) fn new(segments: Vec<Segment>, order: Order) -> io::Result<Self> {
        Ok(match order {
            Order::InTurn => Self::InTurn(segments),
            Order::Parallel => Self::Parallel(
                segments
                    .into_iter()
                    .map(Hand::new)
                    .collect::<Result<_, _>>()?,
            ),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::InTurn(segments) => segments.is_empty(),
            Self::Parallel(hands) => hands.is_empty(),
        }
    }

    /// Append a batch, which begins with `transaction`, to every copy; drop those that fail.
    pub(crate) fn append(&mut self, batch: &Arc<Vec<u8>>, transaction: u64) -> Vec<Dropped> {
        let mut dropped = Vec::new();
        let mut kept = |outcome: Result<(), Fault>, directory: &Path| {
            let failed = outcome.err().map(|fault| Dropped {
                directory: directory.to_owned(),
                transaction,
                fault,
            });
            let is_kept = failed.is_none();
            dropped.extend(failed);
            is_kept
        };
        match self {
            Self::InTurn(segments) => segments.retain_mut(|segment| {
                let outcome = segment.append(batch);
                kept(outcome, segment.directory())
            }),
            Self::Parallel(hands) => {
                for hand in &*hands {
                    hand.batches
                        .send(Arc::clone(batch))
                        .expect("it listens until it is dropped");
                }
                hands.retain(|hand| {
                    let outcome = hand.outcomes.recv().expect("it tells every outcome");
                    kept(outcome, &hand.directory)
                });
            }
        }
        dropped
    }

    /// Write no more to the copies in these directories.
    pub(crate) fn leave(&mut self, directories: &[PathBuf]) {
        let stays = |own: &Path| !directories.iter().any(|left| left == own);
        match self {
            Self::InTurn(segments) => segments.retain(|segment| stays(segment.directory())),
            Self::Parallel(hands) => hands.retain(|hand| stays(&hand.directory)),
        }
    }

    /// The segments that are left.
    pub(crate) fn into_segments(self) -> Vec<Segment> {
        match self {
            Self::InTurn(segments) => segments,
            Self::Parallel(hands) => hands.into_iter().map(Hand::into_segment).collect(),
        }
    }
}

impl Hand {
    fn new(mut segment: Segment) -> io::Result<Self> {
        let (batches, received) = channel::<Arc<Vec<u8>>>();
        let (tell, outcomes) = channel();
        let directory = segment.directory().to_owned();
        let name = Builder::new().name("log-copy".into());
        let thread = name.spawn(move || {
            while let Ok(batch) = received.recv() {
                let outcome = segment.append(&batch);
                drop(batch); // before it is told, so that the writer is its only owner again
                if tell.send(outcome).is_err() {
                    break;
                }
            }
            segment
        })?;
        Ok(Self {
            directory,
            batches,
            outcomes,
            thread,
        })
    }

    fn into_segment(self) -> Segment {
        drop(self.batches);
        self.thread.join().expect("it does not panic")
    }
}
