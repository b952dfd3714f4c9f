//! Copies of the log in several directories.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use crate::error::{FailedLog, Fault};
use crate::segment::Segment;

/// Order of writes to several directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOrder {
    /// One directory after another.
    Sequential,
    /// All directories in parallel, one thread each.
    Parallel,
}

/// Copies that have not failed.
pub(crate) enum LogCopies {
    Sequential(Vec<Segment>),
    Parallel(Vec<CopyWriter>),
}

/// Thread that writes one copy.
pub(crate) struct CopyWriter {
    directory: PathBuf,
    batches: Sender<Arc<Vec<u8>>>,
    outcomes: Receiver<Result<(), Fault>>,
    thread: JoinHandle<Segment>,
}

impl LogCopies {
    pub(crate) fn new(segments: Vec<Segment>, order: WriteOrder) -> io::Result<Self> {
        Ok(match order {
            WriteOrder::Sequential => Self::Sequential(segments),
            WriteOrder::Parallel => Self::Parallel(
                segments
                    .into_iter()
                    .map(CopyWriter::new)
                    .collect::<Result<_, _>>()?,
            ),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Sequential(segments) => segments.is_empty(),
            Self::Parallel(writers) => writers.is_empty(),
        }
    }

    /// Append a batch that starts with `transaction` to every copy. Drop and return copies that
    /// fail.
    pub(crate) fn append(&mut self, batch: &Arc<Vec<u8>>, transaction: u64) -> Vec<FailedLog> {
        let mut failed_logs = Vec::new();
        let mut kept = |outcome: Result<(), Fault>, directory: &Path| {
            let failed = outcome.err().map(|fault| FailedLog {
                directory: directory.to_owned(),
                transaction,
                fault,
            });
            let is_kept = failed.is_none();
            failed_logs.extend(failed);
            is_kept
        };
        match self {
            Self::Sequential(segments) => segments.retain_mut(|segment| {
                let outcome = segment.append(batch);
                kept(outcome, segment.directory())
            }),
            Self::Parallel(writers) => {
                for writer in &*writers {
                    writer
                        .batches
                        .send(Arc::clone(batch))
                        .expect("the thread receives until the channel closes");
                }
                writers.retain(|writer| {
                    let outcome = writer
                        .outcomes
                        .recv()
                        .expect("the thread sends every outcome");
                    kept(outcome, &writer.directory)
                });
            }
        }
        failed_logs
    }

    /// Exclude the copies in these directories.
    pub(crate) fn exclude(&mut self, directories: &[PathBuf]) {
        let stays = |own: &Path| !directories.iter().any(|left| left == own);
        match self {
            Self::Sequential(segments) => segments.retain(|segment| stays(segment.directory())),
            Self::Parallel(writers) => writers.retain(|writer| stays(&writer.directory)),
        }
    }

    /// Segments of the remaining copies.
    pub(crate) fn into_segments(self) -> Vec<Segment> {
        match self {
            Self::Sequential(segments) => segments,
            Self::Parallel(writers) => writers.into_iter().map(CopyWriter::into_segment).collect(),
        }
    }
}

impl CopyWriter {
    fn new(mut segment: Segment) -> io::Result<Self> {
        let (batches, received) = channel::<Arc<Vec<u8>>>();
        let (results, outcomes) = channel();
        let directory = segment.directory().to_owned();
        let name = Builder::new().name("log-copy".into());
        let thread = name.spawn(move || {
            while let Ok(batch) = received.recv() {
                let outcome = segment.append(&batch);
                drop(batch); // before the result is sent, so that the writer is the only owner again
                if results.send(outcome).is_err() {
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
        self.thread.join().expect("the thread does not panic")
    }
}
