//! Block events: submission of a bio; issue, requeue and completion of a request.
//!
//! Source: include/trace/events/block.h; `blk_fill_rwbs()` in kernel/trace/blktrace.c for the
//! `rwbs` field.

use crate::decoder::{EventLayout, Timed};
use crate::format::{Field, Format, FormatError};
use crate::page::Record;

/// Sector size in bytes, independent of the device.
pub const SECTOR_BYTES: u64 = 512;

/// Operation of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Data are read from the device.
    Read,
    /// Data, or zeros without data, are written to the device.
    Write,
    /// Sectors are discarded.
    Discard,
    /// The device flushes its write cache.
    Flush,
}

/// Step of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A thread submitted a bio, which becomes a request, a part of one or several.
    Submitted,
    /// The request was issued to the driver.
    Issued,
    /// The driver could not take the request; it will be issued again.
    Requeued,
    /// The driver completed the request or some of its sectors.
    Completed,
}

/// Request as identified by its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Device: major << 20 | minor. A bio has that of its partition, a request that of its disk.
    pub device: u32,
    /// Operation of the request.
    pub operation: Operation,
    /// Whether `rwbs` has no letter for the operation: a write of zeros or a command, of which only
    /// the completion is traced.
    pub is_ambiguous: bool,
    /// First sector; 0 for a flush.
    pub sector: u64,
    /// Number of sectors; 0 for a flush.
    pub sectors: u64,
}

/// Event of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds of the instance's clock.
    pub at: u64,
    /// Step of the request.
    pub step: Step,
    /// Thread that ran on the CPU. Only that of a submission caused the request.
    pub thread: u32,
    /// Affected request.
    pub request: Request,
}

impl Timed for Event {
    fn at(&self) -> u64 {
        self.at
    }
}

/// Event names with their steps.
pub const EVENTS: [(&str, Step); 4] = [
    ("block_rq_issue", Step::Issued),
    ("block_rq_requeue", Step::Requeued),
    ("block_rq_complete", Step::Completed),
    ("block_bio_queue", Step::Submitted),
];

/// Field layout of one event type.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    step: Step,
    id: u64,
    /// Event type of a record.
    kind: Field,
    thread: Field,
    device: Field,
    sector: Field,
    sectors: Field,
    rwbs: Field,
}

impl Layout {
    /// Parse the text of the event's `format`.
    ///
    /// # Errors
    ///
    /// A field is missing.
    pub fn parse(step: Step, text: &str) -> Result<Self, FormatError> {
        let format = Format::parse(text);
        Ok(Self {
            step,
            id: format.id()?,
            kind: format.number("common_type")?,
            thread: format.number("common_pid")?,
            device: format.number("dev")?,
            sector: format.number("sector")?,
            sectors: format.number("nr_sector")?,
            rwbs: format.field("rwbs")?,
        })
    }

    /// Decode a record; `None` for other event types and for commands, such as those of `SG_IO` or
    /// the driver, which the kernel's counters exclude too. A completion may still belong to a
    /// command, because only its issue lacks a length (`blk_rq_trace_nr_sectors()` of
    /// `include/linux/blktrace_api.h`).
    pub fn event(&self, record: &Record) -> Option<Event> {
        if self.kind.number(record.payload)? != self.id {
            return None;
        }
        let sectors = self.sectors.number(record.payload)?;
        let (letter, operation) = operation(self.rwbs.bytes(record.payload)?, sectors)?;
        Some(Event {
            at: record.at,
            step: self.step,
            thread: u32::try_from(self.thread.number(record.payload)?).ok()?,
            request: Request {
                device: u32::try_from(self.device.number(record.payload)?).ok()?,
                operation,
                is_ambiguous: letter == UNNAMED,
                sector: match operation {
                    // A flush has no position: issue and completion have different sectors.
                    Operation::Flush => 0,
                    _ => self.sector.number(record.payload)?,
                },
                sectors,
            },
        })
    }
}

impl EventLayout for Layout {
    type Event = Event;

    fn decode(&self, record: &Record, _cpu: u16) -> Option<Event> {
        self.event(record)
    }
}

/// Letter of `REQ_OP_WRITE_ZEROES` and of commands.
const UNNAMED: u8 = b'N';

/// Operation of a request with its letter. A leading F requests a flush first: `FWS`, `FF`.
fn operation(rwbs: &[u8], sectors: u64) -> Option<(u8, Operation)> {
    let ([b'F', letter @ (b'R' | b'W' | b'D' | b'F' | UNNAMED), ..] | [letter, ..]) = rwbs else {
        return None;
    };
    let operation = match *letter {
        b'F' => Operation::Flush,
        // A command, or a pure flush request, which has been issued as a flush.
        _ if sectors == 0 => return None,
        b'R' => Operation::Read,
        b'W' | UNNAMED => Operation::Write,
        b'D' => Operation::Discard,
        _ => return None,
    };
    Some((*letter, operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operation_is_the_first_letter_but_for_a_flush_before_it() {
        let known = [
            ("RA", 8, Some(Operation::Read)),
            ("WSM", 8, Some(Operation::Write)),
            ("FWFS", 8, Some(Operation::Write)),
            ("WFS", 8, Some(Operation::Write)),
            ("DS", 8, Some(Operation::Discard)),
            ("DE", 8, Some(Operation::Discard)),
            ("FF", 0, Some(Operation::Flush)),
            ("F", 0, Some(Operation::Flush)),
            ("N", 8, Some(Operation::Write)),
            ("N", 0, None),
            ("WS", 0, None),
            ("ZR", 8, None),
            ("", 0, None),
        ];
        for (letters, sectors, expected) in known {
            let mut rwbs = letters.as_bytes().to_vec();
            rwbs.resize(10, 0);
            let found = operation(&rwbs, sectors).map(|(_, operation)| operation);
            assert_eq!(found, expected, "{letters}");
        }
        assert_eq!(operation(b"", 0), None);
    }

    #[test]
    fn a_record_of_another_event_or_cut_short_is_none() {
        let text = include_str!("../tests/recorded/block_rq_issue.format");
        let layout = Layout::parse(Step::Issued, text).unwrap();
        let mut payload = [0; 64];
        payload[34] = b'F';
        let at = 0;
        assert_eq!(
            layout.event(&Record {
                at,
                payload: &payload
            }),
            None
        );
        payload[..2].copy_from_slice(&2104_u16.to_ne_bytes());
        assert!(
            layout
                .event(&Record {
                    at,
                    payload: &payload
                })
                .is_some()
        );
        let payload = &payload[..40];
        assert_eq!(layout.event(&Record { at, payload }), None);
    }

    #[test]
    fn what_may_be_a_command_says_so() {
        let text = include_str!("../tests/recorded/block_rq_complete.format");
        let layout = Layout::parse(Step::Completed, text).unwrap();
        let mut payload = [0; 64];
        payload[..2].copy_from_slice(&u16::try_from(layout.id).unwrap().to_ne_bytes());
        payload[24] = 1; // a sector
        let mut is_ambiguous = |letter| {
            payload[34] = letter;
            let (at, payload) = (0, &payload);
            layout
                .event(&Record { at, payload })
                .unwrap()
                .request
                .is_ambiguous
        };
        assert!(is_ambiguous(b'N'));
        assert!(!is_ambiguous(b'W'));
    }
}
