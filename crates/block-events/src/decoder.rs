//! Decoder of ring buffer pages to trace entries.

use crate::page::{DamagedPage, PageFormat, Record};

/// Event with the time of its record.
pub trait Timed {
    /// Time in nanoseconds of the instance's clock.
    fn at(&self) -> u64;
}

/// Layout of the records of one event type.
pub trait EventLayout {
    /// Decoded event.
    type Event: Timed;

    /// Decode a record of a CPU's buffer; `None` for records that are skipped.
    fn decode(&self, record: &Record, cpu: u16) -> Option<Self::Event>;
}

/// Entry of a trace buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceEntry<E> {
    /// Event of a request.
    Event(E),
    /// Events before this time, in nanoseconds, were overwritten.
    Lost(u64),
}

impl<E: Timed> TraceEntry<E> {
    /// Time in nanoseconds of the instance's clock.
    pub fn at(&self) -> u64 {
        match self {
            Self::Event(event) => event.at(),
            Self::Lost(at) => *at,
        }
    }
}

/// Decoder with the formats of pages and events.
#[derive(Debug, Clone)]
pub struct Decoder<L> {
    format: PageFormat,
    layouts: Vec<L>,
}

impl<L: EventLayout> Decoder<L> {
    /// Create a decoder of events with these layouts; other events are skipped.
    pub fn new(format: PageFormat, layouts: Vec<L>) -> Self {
        Self { format, layouts }
    }

    /// Page size in bytes.
    pub fn page_bytes(&self) -> usize {
        self.format.page_bytes()
    }

    /// Append the entries of a page of a CPU's buffer in record order.
    ///
    /// # Errors
    ///
    /// The page is damaged; entries before the damage have been appended.
    pub fn decode(
        &self,
        page: &[u8],
        cpu: u16,
        entries: &mut Vec<TraceEntry<L::Event>>,
    ) -> Result<(), DamagedPage> {
        let page = self.format.page(page)?;
        if page.events_lost {
            entries.push(TraceEntry::Lost(page.at));
        }
        for record in page.records() {
            let record = record?;
            let mut layouts = self.layouts.iter();
            let event = layouts.find_map(|layout| layout.decode(&record, cpu));
            entries.extend(event.map(TraceEntry::Event));
        }
        Ok(())
    }
}
