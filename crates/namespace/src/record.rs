//! A transaction in the log: its length, its id, a mutation, and a checksum of all of it.
//!
//! `length: u32 | id: u64 | place: u32 | mutation | padding up to the least size | crc32c: u32`,
//! little-endian. The length is that of the whole record; the place is its own in its batch, from 0.

use crate::mutation::Mutation;

pub(crate) const LENGTH: usize = 4;
const HEAD: usize = LENGTH + 8 + 4;
const CHECKSUM: usize = 4;
/// No zeros: a sector of zeros is one that was not written.
const PADDING: u8 = 0xff;
/// A mutation has at least its kind.
const SHORTEST: usize = HEAD + 1 + CHECKSUM;
/// Paths have at most 4096 bytes, and so may padding be asked for: what is longer is damage.
pub(crate) const LONGEST: usize = 16 << 10;

/// Append a record of at least `least_bytes`, which is the one at `place` of its batch.
pub(crate) fn put(
    into: &mut Vec<u8>,
    (id, place): (u64, u32),
    mutation: &Mutation,
    least_bytes: usize,
) {
    let begin = into.len();
    into.extend_from_slice(&[0; LENGTH]);
    into.extend_from_slice(&id.to_le_bytes());
    into.extend_from_slice(&place.to_le_bytes());
    mutation.encode(into);
    let padded = (begin + least_bytes).saturating_sub(CHECKSUM);
    if into.len() < padded {
        into.resize(padded, PADDING);
    }
    let length = u32::try_from(into.len() + CHECKSUM - begin).expect("paths are short");
    into[begin..begin + LENGTH].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32c::crc32c(&into[begin..]);
    into.extend_from_slice(&checksum.to_le_bytes());
}

/// A whole record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) id: u64,
    pub(crate) place: u32,
    pub(crate) mutation: Mutation<'a>,
    /// Of the whole record.
    pub(crate) bytes: usize,
}

/// The record that `bytes` begin with; None if it is cut short, or not what was written.
pub(crate) fn next(bytes: &[u8]) -> Option<Record<'_>> {
    let (checked, checksum) = bytes.get(..length(bytes)?)?.split_last_chunk()?;
    if crc32c::crc32c(checked) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (id, place) = checked[LENGTH..HEAD].split_first_chunk()?;
    Some(Record {
        id: u64::from_le_bytes(*id),
        place: u32::from_le_bytes(*place.first_chunk()?),
        mutation: Mutation::decode(&checked[HEAD..])?,
        bytes: checked.len() + CHECKSUM,
    })
}

/// The length that a record tells of itself, which may be damaged; None if none is as long.
pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    (SHORTEST..=LONGEST).contains(&length).then_some(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(least_bytes: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let create = Mutation::Create {
            path: "/d/f",
            at_ms: 7,
        };
        put(&mut bytes, (42, 3), &create, least_bytes);
        bytes
    }

    #[test]
    fn a_record_has_at_least_the_size_asked_for() {
        assert_eq!(record(0).len(), 27);
        assert_eq!(record(200).len(), 200);
        for least_bytes in [0, 28, 29, 30, 200] {
            let bytes = record(least_bytes);
            let mutation = Mutation::Create {
                path: "/d/f",
                at_ms: 7,
            };
            let expected = Record {
                id: 42,
                place: 3,
                mutation,
                bytes: bytes.len(),
            };
            assert_eq!(next(&bytes), Some(expected));
            assert!(least_bytes < 200 || !bytes[30..196].contains(&0));
        }
    }

    #[test]
    fn zeros_are_no_record() {
        assert_eq!(next(&[]), None);
        assert_eq!(next(&[0; 100]), None);
    }

    proptest! {
        #[test]
        fn any_bit_flipped_and_any_cut_is_damage(at in 0..200usize, bit in 0..8u8, cut in 1..200usize) {
            let mut bytes = record(200);
            prop_assert_eq!(next(&bytes[..cut]), None);
            bytes[at] ^= 1 << bit;
            prop_assert_eq!(next(&bytes), None);
        }

        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = next(&bytes);
        }
    }
}
