//! Parser of trace ring buffer pages as read from `trace_pipe_raw`.
//!
//! `events/header_page` describes the header. The record format is fixed: `enum ring_buffer_type`
//! in the kernel's `include/linux/ring_buffer.h`.

use thiserror::Error;

use crate::format::{Field, Format, FormatError};

/// A page that violates its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a page of the trace buffer is damaged: a record exceeds the page")]
pub struct DamagedPage;

/// Layout of a page header.
#[derive(Debug, Clone, Copy)]
pub struct PageFormat {
    timestamp: Field,
    commit: Field,
    data: Field,
}

/// Bits of `commit` with the data length; higher bits are flags.
const DATA_BYTES: u64 = (1 << 27) - 1;
/// Events were lost before this page: `RB_MISSED_EVENTS`.
const EVENTS_LOST: u64 = 1 << 31;

impl PageFormat {
    /// Parse the text of `events/header_page`.
    ///
    /// # Errors
    ///
    /// A field is missing.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let format = Format::parse(text);
        Ok(Self {
            timestamp: format.number("timestamp")?,
            commit: format.number("commit")?,
            data: format.field("data")?,
        })
    }

    /// Page size in bytes.
    pub fn page_bytes(&self) -> usize {
        self.data.offset + self.data.size
    }

    /// Parse a page.
    ///
    /// # Errors
    ///
    /// The page is shorter than its data length.
    pub fn page<'a>(&self, bytes: &'a [u8]) -> Result<Page<'a>, DamagedPage> {
        let at = self.timestamp.number(bytes).ok_or(DamagedPage)?;
        let commit = self.commit.number(bytes).ok_or(DamagedPage)?;
        let length = usize::try_from(commit & DATA_BYTES).map_err(|_| DamagedPage)?;
        let data = bytes.get(self.data.offset..).ok_or(DamagedPage)?;
        Ok(Page {
            at,
            events_lost: commit & EVENTS_LOST != 0,
            data: data.get(..length).ok_or(DamagedPage)?,
        })
    }
}

/// Parsed page.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Base time of the records, in nanoseconds of the instance's clock.
    pub at: u64,
    /// Whether events were lost before this page.
    pub events_lost: bool,
    data: &'a [u8],
}

impl<'a> Page<'a> {
    /// Iterate over the records in write order.
    pub fn records(&self) -> Records<'a> {
        Records {
            at: self.at,
            rest: self.data,
        }
    }
}

/// Record with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Nanoseconds of the instance's clock.
    pub at: u64,
    /// The fields that the format of the event describes.
    pub payload: &'a [u8],
}

/// Iterator over records; it ends after a damaged one.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    at: u64,
    rest: &'a [u8],
}

/// Word size in bytes, the unit of lengths.
const WORD: usize = 4;
/// Special record types; lower numbers are data lengths.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// Time bits in a record header; higher bits are in the next word.
const TIME_BITS: u32 = 27;
/// Time bits in an absolute timestamp record.
const ABSOLUTE_BITS: u64 = (1 << 59) - 1;

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, DamagedPage>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            match self.step() {
                Some(Step::Data(payload)) => {
                    let at = self.at;
                    return Some(Ok(Record { at, payload }));
                }
                Some(Step::Passed) => {}
                Some(Step::End) => return None,
                None => {
                    self.rest = &[];
                    return Some(Err(DamagedPage));
                }
            }
        }
        None
    }
}

enum Step<'a> {
    Data(&'a [u8]),
    Passed,
    End,
}

impl<'a> Records<'a> {
    /// Parse the next record; `None` if it exceeds the page.
    fn step(&mut self) -> Option<Step<'a>> {
        let (kind, delta) = kind_and_time(self.word()?);
        match kind {
            PADDING if delta == 0 => return Some(Step::End),
            TIME_EXTEND => self.at = self.at.wrapping_add(self.long_time(delta)?),
            TIME_STAMP => self.at = (self.at & !ABSOLUTE_BITS) | self.long_time(delta)?,
            _ => {
                self.at = self.at.wrapping_add(delta);
                let length = self.length(kind)?;
                let payload = self.take(length)?;
                if kind != PADDING {
                    return Some(Step::Data(payload));
                }
            }
        }
        Some(Step::Passed)
    }

    /// Payload length after the header and the optional length word.
    fn length(&mut self, kind: u32) -> Option<usize> {
        match kind {
            // The length includes its own word.
            0 | PADDING => (self.word()? as usize)
                .next_multiple_of(WORD)
                .checked_sub(WORD),
            words => Some(words as usize * WORD),
        }
    }

    fn long_time(&mut self, low: u64) -> Option<u64> {
        Some((u64::from(self.word()?) << TIME_BITS) | low)
    }

    fn word(&mut self) -> Option<u32> {
        let bytes = self.take(WORD)?.try_into();
        Some(u32::from_ne_bytes(bytes.expect("a word has four bytes")))
    }

    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(taken)
    }
}

/// Bit fields start at the low end of a word on little-endian machines, otherwise at the high end.
fn kind_and_time(header: u32) -> (u32, u64) {
    if cfg!(target_endian = "little") {
        (header & 31, u64::from(header >> 5))
    } else {
        (
            header >> TIME_BITS,
            u64::from(header & ((1 << TIME_BITS) - 1)),
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER_PAGE: &str = include_str!("../tests/recorded/header_page");

    fn header(kind: u32, delta: u32) -> [u8; 4] {
        let word = if cfg!(target_endian = "little") {
            kind | (delta << 5)
        } else {
            (kind << TIME_BITS) | delta
        };
        word.to_ne_bytes()
    }

    /// A page with this data, on a machine of 64 bits.
    fn page(at: u64, flags: u64, data: &[u8]) -> Vec<u8> {
        let mut bytes = at.to_ne_bytes().to_vec();
        bytes.extend((data.len() as u64 | flags).to_ne_bytes());
        bytes.extend(data);
        bytes.resize(4096, 0xee);
        bytes
    }

    fn records(bytes: &[u8]) -> Result<Vec<(u64, Vec<u8>)>, DamagedPage> {
        let page = PageFormat::parse(HEADER_PAGE).unwrap().page(bytes)?;
        let parts = |record: Record| (record.at, record.payload.to_vec());
        page.records().map(|record| record.map(parts)).collect()
    }

    #[test]
    fn every_kind_of_record_is_read() {
        let data = [
            &header(2, 5)[..], // two words, 5 ns later
            b"abcdefgh",
            &header(TIME_EXTEND, 1), // 2^27 + 1 ns later
            &1_u32.to_ne_bytes(),
            &header(0, 0), // a length of its own, that word included
            &9_u32.to_ne_bytes(),
            b"ijklm   ",
            &header(PADDING, 7), // an event that was discarded
            &8_u32.to_ne_bytes(),
            b"gone",
            &header(TIME_STAMP, 3), // the time itself
            &2_u32.to_ne_bytes(),
            &header(1, 1),
            b"nopq",
            &header(PADDING, 0), // the rest is nothing
            b"....",
        ]
        .concat();
        let high = 0xf8 << 56;
        let expected = vec![
            (high + 1005, b"abcdefgh".to_vec()),
            (high + 1006 + (1 << 27), b"ijklm   ".to_vec()),
            (high + (2 << 27) + 3 + 1, b"nopq".to_vec()),
        ];
        assert_eq!(records(&page(high + 1000, 0, &data)), Ok(expected));
    }

    #[test]
    fn lost_events_are_reported_with_or_without_a_count_after_the_data() {
        let format = PageFormat::parse(HEADER_PAGE).unwrap();
        // Written as a long from an int, so that all bits above are set.
        for flags in [
            0x8000_0000,
            0xffff_ffff_8000_0000,
            0xffff_ffff_c000_0000_u64,
        ] {
            let bytes = page(1, flags, b"");
            let found = format.page(&bytes).unwrap();
            assert!(found.events_lost);
            assert_eq!(found.records().count(), 0);
        }
        assert!(!format.page(&page(1, 0, b"")).unwrap().events_lost);
    }

    #[test]
    fn a_page_cut_short_is_damaged() {
        let data = [&header(2, 5)[..], b"abcd"].concat();
        assert_eq!(records(&page(0, 0, &data)), Err(DamagedPage));
        assert_eq!(records(&page(0, 0, &[0; 4000])[..4000]), Err(DamagedPage));
        assert_eq!(records(&[0; 10]), Err(DamagedPage));
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(
            events in proptest::collection::vec((0_u32..1 << 27, 1_usize..40), 0..25), at: u32,
        ) {
            let mut data = Vec::new();
            let mut expected = Vec::new();
            let mut now = u64::from(at);
            for (delta, words) in events {
                let payload = vec![0xab_u8; words * WORD];
                if words <= 28 {
                    data.extend(header(u32::try_from(words).unwrap(), delta));
                } else {
                    data.extend(header(0, delta));
                    data.extend(u32::try_from((words + 1) * WORD).unwrap().to_ne_bytes());
                }
                data.extend(&payload);
                now += u64::from(delta);
                expected.push((now, payload));
            }
            prop_assert_eq!(records(&page(at.into(), 0, &data)), Ok(expected));
        }

        #[test]
        fn nothing_makes_it_panic_or_go_on_for_ever(
            data in proptest::collection::vec(any::<u8>(), 0..600),
        ) {
            let _ = records(&page(0, 0, &data));
            let _ = records(&data);
        }
    }
}
