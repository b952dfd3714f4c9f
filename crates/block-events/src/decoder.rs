//! Decoder of ring buffer pages to trace entries.

use crate::event::{Event, Layout};
use crate::page::{DamagedPage, PageFormat};

/// Entry of a trace buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceEntry {
    /// Event of a request.
    Event(Event),
    /// Events before this time, in nanoseconds, were overwritten.
    Lost(u64),
}

impl TraceEntry {
    /// Time in nanoseconds of the instance's clock.
    #[must_use]
    pub fn at(&self) -> u64 {
        match self {
            Self::Event(event) => event.at,
            Self::Lost(at) => *at,
        }
    }
}

/// Decoder with the formats of pages and events.
#[derive(Debug, Clone)]
pub struct Decoder {
    format: PageFormat,
    layouts: Vec<Layout>,
}

impl Decoder {
    /// Create a decoder of events with these layouts; other events are skipped.
    #[must_use]
    pub fn new(format: PageFormat, layouts: Vec<Layout>) -> Self {
        Self { format, layouts }
    }

    /// Page size in bytes.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.format.page_bytes()
    }

    /// Append the entries of a page in record order.
    ///
    /// # Errors
    ///
    /// The page is damaged; entries before the damage have been appended.
    pub fn decode(&self, page: &[u8], entries: &mut Vec<TraceEntry>) -> Result<(), DamagedPage> {
        let page = self.format.page(page)?;
        if page.events_lost {
            entries.push(TraceEntry::Lost(page.at));
        }
        for record in page.records() {
            let record = record?;
            let event = self.layouts.iter().find_map(|layout| layout.event(&record));
            entries.extend(event.map(TraceEntry::Event));
        }
        Ok(())
    }
}
