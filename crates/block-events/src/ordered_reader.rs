//! Reader of the buffers of all CPUs in time order.

use std::io;
use std::time::Duration;
use std::vec::Drain;

use rustix::time::{ClockId, clock_gettime};

use crate::decoder::{EventLayout, TraceEntry};
use crate::source::Source;

/// Reader of a trace instance with the clock `mono`.
pub(crate) struct OrderedReader<L: EventLayout> {
    pub(crate) source: Source<L>,
    /// Entries that wait for earlier ones of other CPUs.
    pending: Vec<TraceEntry<L::Event>>,
    /// Time of the previous read: all earlier events are complete.
    pub(crate) complete_until: u64,
}

impl<L: EventLayout> OrderedReader<L> {
    pub(crate) fn new(source: Source<L>) -> Self {
        Self {
            source,
            pending: Vec::new(),
            complete_until: 0,
        }
    }

    /// Read the buffers, and return the entries before the previous read.
    pub(crate) fn read(&mut self) -> io::Result<Drain<'_, TraceEntry<L::Event>>> {
        let began = nanoseconds(elapsed(ClockId::Monotonic));
        self.fill()?;
        let end = self.complete_until;
        let due = self.pending.partition_point(|entry| entry.at() < end);
        self.complete_until = began;
        Ok(self.pending.drain(..due))
    }

    /// Read the buffers, and return all remaining entries.
    pub(crate) fn finish(&mut self) -> io::Result<Drain<'_, TraceEntry<L::Event>>> {
        self.fill()?;
        Ok(self.pending.drain(..))
    }

    fn fill(&mut self) -> io::Result<()> {
        self.source.drain(&mut self.pending)?;
        // The entries are sorted per CPU, so this sort is a merge.
        self.pending.sort_by_key(TraceEntry::at);
        Ok(())
    }
}

/// Read a clock that is not negative.
pub(crate) fn elapsed(clock: ClockId) -> Duration {
    let elapsed = clock_gettime(clock);
    elapsed.try_into().expect("the clock is not negative")
}

/// Exact for five centuries after boot.
fn nanoseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}
