//! What a job measured.

use std::time::{Duration, Instant};

use iostudy_latency::{Latencies, add, no_latencies};

use crate::meter::{Tallies, Tally};
use crate::note::Note;

/// How long a thread took for its files, one phase after the other, with its ramp.
#[derive(Debug, Clone, Copy)]
pub struct Phases {
    /// open(2) of all files, with their room and their advice.
    pub open: Duration,
    /// From the first record to the last.
    pub records: Duration,
    /// The syncs at the end.
    pub sync: Duration,
    /// close(2) of all files.
    pub close: Duration,
}

/// What was measured on one thread.
pub(crate) struct ThreadResult {
    /// From when it counts.
    pub(crate) started: Instant,
    pub(crate) ended: Instant,
    pub(crate) phases: Phases,
    pub(crate) cpu_seconds: f64,
    pub(crate) overdue: u64,
    pub(crate) tallies: Tallies,
    pub(crate) note: Option<Note>,
}

/// What a job measured, after its ramp.
#[derive(Debug, Clone)]
pub struct JobResult {
    /// From the first start to the last end.
    pub wall: Duration,
    /// Each thread from its start to its end, in the order of the job's threads.
    pub threads: Vec<Duration>,
    /// The phases of each thread, likewise.
    pub phases: Vec<Phases>,
    /// Read and written, with what the ramp did.
    pub moved_bytes: u64,
    /// What was read.
    pub read: Tally,
    /// What was written.
    pub write: Tally,
    /// How long single syncs took, in nanoseconds.
    pub sync: Latencies,
    /// About how many records arrived in an open loop and were never begun, since those before them
    /// took all the time there was.
    pub overdue: u64,
    /// Processor time of all threads in user and kernel mode, with that of the ramp.
    pub cpu_seconds: f64,
    /// What was done otherwise than asked, each once.
    pub notes: Vec<Note>,
}

impl JobResult {
    /// Put together what the threads measured.
    pub(crate) fn gather(threads: Vec<ThreadResult>) -> Self {
        let mut all = Self {
            wall: wall(&threads).unwrap_or_default(),
            threads: threads.iter().map(duration).collect(),
            phases: threads.iter().map(|thread| thread.phases).collect(),
            moved_bytes: threads.iter().map(|t| t.tallies.moved_bytes).sum(),
            read: Tally::new(),
            write: Tally::new(),
            sync: no_latencies(),
            overdue: threads.iter().map(|thread| thread.overdue).sum(),
            cpu_seconds: threads.iter().map(|thread| thread.cpu_seconds).sum(),
            notes: Vec::new(),
        };
        for thread in threads {
            all.read.add(&thread.tallies.read);
            all.write.add(&thread.tallies.write);
            add(&mut all.sync, &thread.tallies.sync);
            if let Some(note) = thread.note.filter(|note| !all.notes.contains(note)) {
                all.notes.push(note);
            }
        }
        all
    }
}

/// Nothing for a thread that ended before it counted.
fn duration(thread: &ThreadResult) -> Duration {
    thread.ended.saturating_duration_since(thread.started)
}

fn wall(threads: &[ThreadResult]) -> Option<Duration> {
    let start: Instant = threads.iter().map(|thread| thread.started).min()?;
    let end: Instant = threads.iter().map(|thread| thread.ended).max()?;
    Some(end.saturating_duration_since(start))
}
