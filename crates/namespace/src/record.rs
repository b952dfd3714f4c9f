//! Encoding of one transaction in the log, with length, id and checksum.
//!
//! `length: u32 | id: u64 | position: u32 | mutation | padding up to the minimum size | crc32c:
//! u32`, little-endian. The length covers the whole record; the position counts within the batch,
//! from 0.

use crate::mutation::Mutation;

pub(crate) const LENGTH_BYTES: usize = 4;
const HEADER_BYTES: usize = LENGTH_BYTES + 8 + 4;
const CHECKSUM_BYTES: usize = 4;
/// Not zero: a zero sector counts as unwritten.
const PADDING: u8 = 0xff;
/// A mutation has at least its kind.
const MIN_RECORD_BYTES: usize = HEADER_BYTES + 1 + CHECKSUM_BYTES;
/// Maximum size: paths have at most 4096 bytes. A longer record is damage.
pub(crate) const MAX_RECORD_BYTES: usize = 16 << 10;

/// Append a record of at least `min_bytes` at `position` of its batch.
pub(crate) fn append(
    into: &mut Vec<u8>,
    (id, position): (u64, u32),
    mutation: &Mutation,
    min_bytes: usize,
) {
    let begin = into.len();
    into.extend_from_slice(&[0; LENGTH_BYTES]);
    into.extend_from_slice(&id.to_le_bytes());
    into.extend_from_slice(&position.to_le_bytes());
    mutation.encode(into);
    let padded = (begin + min_bytes).saturating_sub(CHECKSUM_BYTES);
    if into.len() < padded {
        into.resize(padded, PADDING);
    }
    let length = u32::try_from(into.len() + CHECKSUM_BYTES - begin).expect("paths are short");
    into[begin..begin + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32c::crc32c(&into[begin..]);
    into.extend_from_slice(&checksum.to_le_bytes());
}

/// Decoded record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) id: u64,
    pub(crate) position: u32,
    pub(crate) mutation: Mutation<'a>,
    /// Size of the record.
    pub(crate) bytes: usize,
}

/// Parse the record at the start of `bytes`; `None` if it is truncated or damaged.
pub(crate) fn parse(bytes: &[u8]) -> Option<Record<'_>> {
    let (checked, checksum) = bytes.get(..length(bytes)?)?.split_last_chunk()?;
    if crc32c::crc32c(checked) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (id, position) = checked[LENGTH_BYTES..HEADER_BYTES].split_first_chunk()?;
    Some(Record {
        id: u64::from_le_bytes(*id),
        position: u32::from_le_bytes(*position.first_chunk()?),
        mutation: Mutation::decode(&checked[HEADER_BYTES..])?,
        bytes: checked.len() + CHECKSUM_BYTES,
    })
}

/// Length field of a record, which may be damaged; `None` if out of range.
pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    (MIN_RECORD_BYTES..=MAX_RECORD_BYTES)
        .contains(&length)
        .then_some(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(min_bytes: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let create = Mutation::Create {
            path: "/d/f",
            at_ms: 7,
        };
        append(&mut bytes, (42, 3), &create, min_bytes);
        bytes
    }

    #[test]
    fn a_record_has_at_least_the_minimum_size() {
        assert_eq!(record(0).len(), 27);
        assert_eq!(record(200).len(), 200);
        for min_bytes in [0, 28, 29, 30, 200] {
            let bytes = record(min_bytes);
            let mutation = Mutation::Create {
                path: "/d/f",
                at_ms: 7,
            };
            let expected = Record {
                id: 42,
                position: 3,
                mutation,
                bytes: bytes.len(),
            };
            assert_eq!(parse(&bytes), Some(expected));
            assert!(min_bytes < 200 || !bytes[30..196].contains(&0));
        }
    }

    #[test]
    fn zeros_are_no_record() {
        assert_eq!(parse(&[]), None);
        assert_eq!(parse(&[0; 100]), None);
    }

    proptest! {
        #[test]
        fn any_flipped_bit_and_any_cut_is_detected(at in 0..200usize, bit in 0..8u8, cut in 1..200usize) {
            let mut bytes = record(200);
            prop_assert_eq!(parse(&bytes[..cut]), None);
            bytes[at] ^= 1 << bit;
            prop_assert_eq!(parse(&bytes), None);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = parse(&bytes);
        }
    }
}
