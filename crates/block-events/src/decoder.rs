//! Pages of several ring buffers as one sequence of what happened.

use crate::event::{Event, Layout};
use crate::page::{Damaged, PageFormat};

/// What a buffer tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Something has happened to a request.
    Event(Event),
    /// Events before this time, in nanoseconds, were overwritten before they were read.
    Lost(u64),
}

impl Seen {
    /// When, in nanoseconds of the instance's clock.
    #[must_use]
    pub fn at(&self) -> u64 {
        match self {
            Self::Event(event) => event.at,
            Self::Lost(at) => *at,
        }
    }
}

/// Knows how pages, and the events in them, lie in memory.
#[derive(Debug, Clone)]
pub struct Decoder {
    format: PageFormat,
    layouts: Vec<Layout>,
}

impl Decoder {
    /// Of events with these layouts; all others are passed over.
    #[must_use]
    pub fn new(format: PageFormat, layouts: Vec<Layout>) -> Self {
        Self { format, layouts }
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.format.page_bytes()
    }

    /// Add what a page tells, in the order of its records.
    ///
    /// # Errors
    ///
    /// The page is damaged; what it tells before that has been added.
    pub fn decode(&self, page: &[u8], seen: &mut Vec<Seen>) -> Result<(), Damaged> {
        let page = self.format.page(page)?;
        if page.events_lost {
            seen.push(Seen::Lost(page.at));
        }
        for record in page.records() {
            let record = record?;
            let event = self.layouts.iter().find_map(|layout| layout.event(&record));
            seen.extend(event.map(Seen::Event));
        }
        Ok(())
    }
}
