//! A transaction in the log: its length, its id, a mutation, and a checksum of all of it.
//!
//! `length: u32 | id: u64 | place: u32 | mutation | zeros up to the least size | crc32c: u32`,
//! little-endian. The length is that of the whole record; the place is its own in its batch, from 0.
//! Zeros are no record: a log that was filled with them beforehand ends where they begin.

use crate::mutation::Mutation;

const LENGTH: usize = 4;
const HEAD: usize = LENGTH + 8 + 4;
const CHECKSUM: usize = 4;
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
        into.resize(padded, 0);
    }
    let length = u32::try_from(into.len() + CHECKSUM - begin).expect("paths are short");
    into[begin..begin + LENGTH].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32c::crc32c(&into[begin..]);
    into.extend_from_slice(&checksum.to_le_bytes());
}

/// What a log holds at one place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// A whole record.
    Record {
        id: u64,
        place: u32,
        mutation: Mutation<'a>,
        bytes: usize,
    },
    /// Nothing more, or nothing but zeros.
    End,
    /// Something that is no record: cut short, or not what was written.
    Damage,
}

/// What `bytes` begin with.
pub(crate) fn next(bytes: &[u8]) -> Found<'_> {
    whole(bytes).unwrap_or_else(|| {
        if bytes.iter().all(|&byte| byte == 0) {
            Found::End
        } else {
            Found::Damage
        }
    })
}

/// What begins with the record of that id, somewhere behind damage.
pub(crate) fn find(bytes: &[u8], wanted: u64) -> Option<&[u8]> {
    anywhere(bytes).find_map(|(from, id, _)| (id == wanted).then_some(from))
}

/// Whether a batch that began after the transaction `lost` lies somewhere behind damage.
pub(crate) fn later_batch(bytes: &[u8], lost: u64) -> bool {
    anywhere(bytes).any(|(_, id, place)| id.saturating_sub(place.into()) > lost)
}

/// Every whole record, wherever it begins: with its id, and its place in its batch.
fn anywhere(bytes: &[u8]) -> impl Iterator<Item = (&[u8], u64, u32)> {
    (0..bytes.len()).filter_map(move |at| match whole(&bytes[at..])? {
        Found::Record { id, place, .. } => Some((&bytes[at..], id, place)),
        _ => None,
    })
}

fn whole(bytes: &[u8]) -> Option<Found<'_>> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    if !(SHORTEST..=LONGEST).contains(&length) {
        return None;
    }
    let (checked, checksum) = bytes.get(..length)?.split_last_chunk()?;
    if crc32c::crc32c(checked) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (id, place) = checked[LENGTH..HEAD].split_first_chunk()?;
    Some(Found::Record {
        id: u64::from_le_bytes(*id),
        place: u32::from_le_bytes(*place.first_chunk()?),
        mutation: Mutation::decode(&checked[HEAD..])?,
        bytes: length,
    })
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
            let expected = Found::Record {
                id: 42,
                place: 3,
                mutation,
                bytes: bytes.len(),
            };
            assert_eq!(next(&bytes), expected);
        }
    }

    #[test]
    fn zeros_are_the_end() {
        assert_eq!(next(&[]), Found::End);
        assert_eq!(next(&[0; 100]), Found::End);
    }

    #[test]
    fn whole_records_are_found_behind_damage() {
        let mut bytes = vec![7; 40];
        bytes.extend(record(0));
        assert_eq!(find(&bytes, 42), Some(&bytes[40..]));
        assert_eq!(find(&bytes, 41), None);
        assert!(later_batch(&bytes, 38));
        assert!(!later_batch(&bytes, 39)); // its batch began with 39
    }

    proptest! {
        #[test]
        fn any_bit_flipped_and_any_cut_is_damage(at in 0..200usize, bit in 0..8u8, cut in 1..200usize) {
            let mut bytes = record(200);
            prop_assert_eq!(next(&bytes[..cut]), Found::Damage);
            bytes[at] ^= 1 << bit;
            prop_assert_eq!(next(&bytes), Found::Damage);
        }

        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = next(&bytes);
        }
    }
}
