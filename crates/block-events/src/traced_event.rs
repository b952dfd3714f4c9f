//! Block events with position, process and CPU.
//!
//! Source: the formats of `events/block` in tracefs; Documentation/trace/events.rst for the common
//! fields.

use crate::decoder::{EventLayout, Timed};
use crate::format::{Field, Format, FormatError};
use crate::page::Record;

/// Size of the longest text field, a command name (`TASK_COMM_LEN`).
const TEXT_BYTES: usize = 16;

/// Text of a field up to its first zero byte, at most 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Text([u8; TEXT_BYTES]);

impl Text {
    fn new(bytes: &[u8]) -> Self {
        let mut text = [0; TEXT_BYTES];
        let length = bytes.iter().position(|byte| *byte == 0);
        let length = length.unwrap_or(bytes.len()).min(TEXT_BYTES);
        text[..length].copy_from_slice(&bytes[..length]);
        Self(text)
    }

    /// The text; bytes that are not UTF-8 are replaced.
    pub fn as_str(&self) -> std::borrow::Cow<'_, str> {
        let end = self.0.iter().position(|byte| *byte == 0);
        String::from_utf8_lossy(&self.0[..end.unwrap_or(TEXT_BYTES)])
    }
}

/// Sectors of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Device as the kernel numbers it: major << 20 | minor.
    pub device: u32,
    /// First sector.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u64,
}

/// Block event as the kernel records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracedEvent {
    /// Nanoseconds of the instance's clock.
    pub at: u64,
    /// Number of its layout.
    pub kind: u8,
    /// Affected sectors; none of an event without a device.
    pub extent: Option<Extent>,
    /// Operation flags; empty if the event has none.
    pub rwbs: Text,
    /// Thread that ran on the CPU.
    pub pid: u32,
    /// Command name of that thread; empty if the event has none.
    pub command: Text,
    /// CPU of the event.
    pub cpu: u16,
}

impl Timed for TracedEvent {
    fn at(&self) -> u64 {
        self.at
    }
}

/// Fields of an extent.
#[derive(Debug, Clone, Copy)]
struct ExtentFields {
    device: Field,
    sector: Field,
    /// Number of sectors, or the first sector after them.
    length: Field,
    is_end: bool,
}

impl ExtentFields {
    /// `block_split` has the first sector of the second part instead of a number of sectors.
    fn parse(format: &Format) -> Result<Self, FormatError> {
        let count = format.number("nr_sector");
        Ok(Self {
            device: format.number("dev")?,
            sector: format.number("sector")?,
            is_end: count.is_err(),
            length: count.or_else(|error| format.number("new_sector").map_err(|_| error))?,
        })
    }

    fn extent(&self, payload: &[u8]) -> Option<Extent> {
        let sector = self.sector.number(payload)?;
        let length = self.length.number(payload)?;
        Some(Extent {
            device: u32::try_from(self.device.number(payload)?).ok()?,
            sector,
            sectors: if self.is_end {
                length.wrapping_sub(sector)
            } else {
                length
            },
        })
    }
}

/// Layout of the fields of one event type.
#[derive(Debug, Clone, Copy)]
pub struct TracedLayout {
    kind: u8,
    id: u64,
    event_type: Field,
    pid: Field,
    extent: Option<ExtentFields>,
    rwbs: Option<Field>,
    command: Option<Field>,
}

impl TracedLayout {
    /// Parse the text of the event's `format`; `kind` is the number of the layout.
    ///
    /// # Errors
    ///
    /// A field is missing: the event's type, the process, or the sectors of an event with a device.
    pub fn parse(kind: u8, text: &str) -> Result<Self, FormatError> {
        let format = Format::parse(text);
        let has_device = format.field("dev").is_ok();
        Ok(Self {
            kind,
            id: format.id()?,
            event_type: format.number("common_type")?,
            pid: format.number("common_pid")?,
            extent: has_device
                .then(|| ExtentFields::parse(&format))
                .transpose()?,
            rwbs: format.field("rwbs").ok(),
            command: format.field("comm").ok(),
        })
    }
}

impl EventLayout for TracedLayout {
    type Event = TracedEvent;

    fn decode(&self, record: &Record, cpu: u16) -> Option<TracedEvent> {
        let payload = record.payload;
        if self.event_type.number(payload)? != self.id {
            return None;
        }
        let text = |field: Option<Field>| {
            let bytes = field.and_then(|field| field.bytes(payload));
            bytes.map(Text::new).unwrap_or_default()
        };
        let extent = match &self.extent {
            Some(fields) => Some(fields.extent(payload)?),
            None => None,
        };
        Some(TracedEvent {
            at: record.at,
            kind: self.kind,
            extent,
            rwbs: text(self.rwbs),
            pid: u32::try_from(self.pid.number(payload)?).ok()?,
            command: text(self.command),
            cpu,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUE: &str = include_str!("../tests/recorded/block_rq_issue.format");
    const COMPLETE: &str = include_str!("../tests/recorded/block_rq_complete.format");
    const SPLIT: &str = "ID: 7\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\n\tfield:dev_t dev;\toffset:8;\tsize:4;\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\n\
        \tfield:sector_t new_sector;\toffset:24;\tsize:8;\n";
    const PLUG: &str = "ID: 9\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\n\tfield:char comm[16];\toffset:8;\tsize:16;\n";

    fn decode(text: &str, id: u16, bytes: &[(usize, &[u8])]) -> Option<TracedEvent> {
        let mut payload = [0; 72];
        payload[..2].copy_from_slice(&id.to_ne_bytes());
        payload[4..8].copy_from_slice(&4711_u32.to_ne_bytes());
        for (offset, field) in bytes {
            payload[*offset..offset + field.len()].copy_from_slice(field);
        }
        let record = Record {
            at: 5,
            payload: &payload,
        };
        TracedLayout::parse(3, text).unwrap().decode(&record, 1)
    }

    #[test]
    fn an_issue_has_its_sectors_process_and_command() {
        let fields: [(usize, &[u8]); 5] = [
            (8, &(7_u32 << 20).to_ne_bytes()),
            (16, &80_u64.to_ne_bytes()),
            (24, &8_u32.to_ne_bytes()),
            (34, b"WS"),
            (44, b"sixteen-letters-"),
        ];
        let event = decode(ISSUE, 2104, &fields).unwrap();
        let (device, sector, sectors) = (7 << 20, 80, 8);
        let extent = Extent {
            device,
            sector,
            sectors,
        };
        assert_eq!(event.extent, Some(extent));
        assert_eq!(
            (event.at, event.kind, event.pid, event.cpu),
            (5, 3, 4711, 1)
        );
        assert_eq!(event.rwbs.as_str(), "WS");
        assert_eq!(event.command.as_str(), "sixteen-letters-");
    }

    #[test]
    fn a_completion_has_no_command_and_another_event_is_skipped() {
        assert_eq!(
            decode(COMPLETE, 2107, &[]).unwrap().command,
            Text::default()
        );
        assert_eq!(decode(COMPLETE, 2104, &[]), None);
    }

    #[test]
    fn a_split_has_the_sectors_of_its_first_part() {
        let fields: [(usize, &[u8]); 2] =
            [(16, &80_u64.to_ne_bytes()), (24, &96_u64.to_ne_bytes())];
        assert_eq!(
            decode(SPLIT, 7, &fields).unwrap().extent.unwrap().sectors,
            16
        );
    }

    #[test]
    fn a_plug_has_no_device() {
        let event = decode(PLUG, 9, &[(8, b"dd")]).unwrap();
        assert_eq!((event.extent, &*event.command.as_str()), (None, "dd"));
    }

    #[test]
    fn an_event_with_a_device_needs_its_sectors() {
        let text = SPLIT.replace("new_sector", "end");
        let error = TracedLayout::parse(0, &text).unwrap_err();
        assert_eq!(error, FormatError::NoField("nr_sector".into()));
    }
}
