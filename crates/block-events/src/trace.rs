//! Trace of block events that its caller reads in batches.

use std::io;
use std::path::{Path, PathBuf};

use crate::decoder::TraceEntry;
use crate::ordered_reader::OrderedReader;
use crate::source::{Source, stop_tracing};
use crate::traced_event::{TracedEvent, TracedLayout};

/// Entries of a read in time order.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Events, and places at which events were lost; there is one if any was.
    pub entries: Vec<TraceEntry<TracedEvent>>,
    /// Number of events lost since the read before.
    pub lost_events: u64,
}

/// Trace instance that records.
///
/// The kernel's buffers hold what the caller has not read. A full buffer overwrites its oldest
/// events, which counts as loss.
pub struct Trace {
    instance: PathBuf,
    reader: OrderedReader<TracedLayout>,
    lost_events: u64,
}

impl Trace {
    /// Start tracing. The number of an event's layout is its index in `events`.
    ///
    /// The instance must have the events enabled, the clock `mono`, and tracing off.
    ///
    /// # Errors
    ///
    /// A file of the instance cannot be read or written, or a format is unknown.
    pub fn start(instance: &Path, events: &[String]) -> io::Result<Self> {
        let kinds = events.iter().map(String::as_str).zip(0_u8..);
        let source = Source::open(instance, kinds, TracedLayout::parse)?;
        source.start_tracing()?;
        Ok(Self {
            instance: instance.to_owned(),
            reader: OrderedReader::new(source),
            lost_events: 0,
        })
    }

    /// Read the events before the previous read.
    ///
    /// # Errors
    ///
    /// The buffers could not be read, or violate their format.
    pub fn read(&mut self) -> io::Result<Batch> {
        let entries = self.reader.read()?.collect();
        self.batch(entries)
    }

    /// Stop tracing, and read all remaining events.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn stop(mut self) -> io::Result<Batch> {
        stop_tracing(&self.instance)?;
        let entries = self.reader.finish()?.collect();
        self.batch(entries)
    }

    fn batch(&mut self, mut entries: Vec<TraceEntry<TracedEvent>>) -> io::Result<Batch> {
        let lost = self.reader.source.lost_events()?;
        let lost_events = lost - self.lost_events;
        self.lost_events = lost;
        let is_lost = |entry: &TraceEntry<TracedEvent>| matches!(entry, TraceEntry::Lost(_));
        if lost_events > 0 && !entries.iter().any(is_lost) {
            let read_at = self.reader.complete_until;
            let at = entries.last().map_or(read_at, TraceEntry::at);
            entries.push(TraceEntry::Lost(at));
        }
        Ok(Batch {
            entries,
            lost_events,
        })
    }
}
