//! What a record says of a request: issued to the driver, given back by it, or completed.
//!
//! Source: include/trace/events/block.h; `blk_fill_rwbs()` in kernel/trace/blktrace.c for what
//! stands in `rwbs`.

use crate::format::{Field, Format, FormatError};
use crate::page::Record;

/// Bytes of a sector, whatever the device's own are.
pub const SECTOR_BYTES: u64 = 512;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Data come from the device.
    Read,
    /// Data, or zeros without data, go to the device.
    Write,
    /// The device may forget sectors.
    Discard,
    /// The device brings its cache to where it lasts.
    Flush,
}

/// What happened to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The driver has got it.
    Issued,
    /// The driver could not take it now, and it will be issued again.
    Requeued,
    /// The driver has done it, or as many sectors of it.
    Completed,
}

/// A request as its events name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The whole device: major << 20 | minor.
    pub device: u32,
    /// What it does.
    pub operation: Operation,
    /// Whether the kernel has no letter for that: zeros without data, which it may have none for,
    /// or a command, of which the completion alone is told.
    pub is_unnamed: bool,
    /// Where it begins; 0 for a flush.
    pub sector: u64,
    /// How long it is; 0 for a flush.
    pub sectors: u64,
}

/// Something that happened to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds of the instance's clock.
    pub at: u64,
    /// What happened.
    pub step: Step,
    /// To which request.
    pub request: Request,
}

/// The names of the events, and what each says.
pub const EVENTS: [(&str, Step); 3] = [
    ("block_rq_issue", Step::Issued),
    ("block_rq_requeue", Step::Requeued),
    ("block_rq_complete", Step::Completed),
];

/// Where the parts of one kind of event lie.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    step: Step,
    id: u64,
    /// The number of the event that a record is of.
    kind: Field,
    device: Field,
    sector: Field,
    sectors: Field,
    rwbs: Field,
}

impl Layout {
    /// Of the text in the event's `format`.
    ///
    /// # Errors
    ///
    /// It lacks a field.
    pub fn parse(step: Step, text: &str) -> Result<Self, FormatError> {
        let format = Format::parse(text);
        Ok(Self {
            step,
            id: format.id()?,
            kind: format.number("common_type")?,
            device: format.number("dev")?,
            sector: format.number("sector")?,
            sectors: format.number("nr_sector")?,
            rwbs: format.field("rwbs")?,
        })
    }

    /// The event in a record; None if it is of another kind, or of a command, such as those of
    /// `SG_IO` and of the driver itself, which the kernel's own counters leave out as well. A
    /// completion may be a command's all the same: it tells the length that an issue leaves out
    /// (`blk_rq_trace_nr_sectors()` of `include/linux/blktrace_api.h`).
    #[must_use]
    pub fn event(&self, record: &Record) -> Option<Event> {
        if self.kind.number(record.payload)? != self.id {
            return None;
        }
        let sectors = self.sectors.number(record.payload)?;
        let (letter, operation) = operation(self.rwbs.bytes(record.payload)?, sectors)?;
        Some(Event {
            at: record.at,
            step: self.step,
            request: Request {
                device: u32::try_from(self.device.number(record.payload)?).ok()?,
                operation,
                is_unnamed: letter == UNNAMED,
                sector: match operation {
                    // It has no place, and is issued with another than it is completed with.
                    Operation::Flush => 0,
                    _ => self.sector.number(record.payload)?,
                },
                sectors,
            },
        })
    }
}

/// Zeros without data (`REQ_OP_WRITE_ZEROES`), or a command.
const UNNAMED: u8 = b'N';

/// What a request does, with the letter that says so. An F before that letter asks for a flush
/// before it: `FWS`, `FF`.
fn operation(rwbs: &[u8], sectors: u64) -> Option<(u8, Operation)> {
    let ([b'F', letter @ (b'R' | b'W' | b'D' | b'F' | UNNAMED), ..] | [letter, ..]) = rwbs else {
        return None;
    };
    let operation = match *letter {
        b'F' => Operation::Flush,
        // A command; or what asked for a flush and nothing else, which has been issued as one.
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
        let mut is_unnamed = |letter| {
            payload[34] = letter;
            let (at, payload) = (0, &payload);
            layout
                .event(&Record { at, payload })
                .unwrap()
                .request
                .is_unnamed
        };
        assert!(is_unnamed(b'N'));
        assert!(!is_unnamed(b'W'));
    }
}
