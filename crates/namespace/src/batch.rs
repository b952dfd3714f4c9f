//! Encoding of a batch: records that become durable together, after a header.
//!
//! `magic | first transaction: u64 | records: u32 | bytes of the records: u64 | crc32c of these:
//! u32`, then the records. The header makes every truncated batch detectable.

const MAGIC: &[u8; 4] = b"next";
const CHECKED_BYTES: usize = MAGIC.len() + 8 + 4 + 8;
pub(crate) const HEADER_BYTES: usize = CHECKED_BYTES + 4;

/// Header of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchHeader {
    /// Transaction of the first record.
    pub(crate) first: u64,
    pub(crate) records: u32,
    /// Bytes of all records.
    pub(crate) bytes: u64,
}

impl BatchHeader {
    pub(crate) fn contains(&self, transaction: u64) -> bool {
        transaction
            .checked_sub(self.first)
            .is_some_and(|place| place < self.records.into())
    }
}

/// Reserve space for the header.
pub(crate) fn reserve_header(batch: &mut Vec<u8>) {
    batch.resize(batch.len() + HEADER_BYTES, 0);
}

/// Write the header of a complete batch.
pub(crate) fn write_header(batch: &mut [u8], first: u64, records: u32) {
    let (header, rest) = batch.split_at_mut(HEADER_BYTES);
    let bytes = rest.len() as u64;
    let parts: [&[u8]; 4] = [
        MAGIC,
        &first.to_le_bytes(),
        &records.to_le_bytes(),
        &bytes.to_le_bytes(),
    ];
    header[..CHECKED_BYTES].copy_from_slice(&parts.concat());
    let checksum = crc32c::crc32c(&header[..CHECKED_BYTES]);
    header[CHECKED_BYTES..].copy_from_slice(&checksum.to_le_bytes());
}

/// Parse the header at the start of `bytes`.
pub(crate) fn parse_header(bytes: &[u8]) -> Option<BatchHeader> {
    let (checked, rest) = bytes.split_first_chunk::<CHECKED_BYTES>()?;
    let numbers = checked.strip_prefix(MAGIC)?;
    if crc32c::crc32c(checked) != u32::from_le_bytes(*rest.first_chunk()?) {
        return None;
    }
    let (first, numbers) = numbers.split_first_chunk()?;
    let (records, numbers) = numbers.split_first_chunk()?;
    Some(BatchHeader {
        first: u64::from_le_bytes(*first),
        records: u32::from_le_bytes(*records),
        bytes: u64::from_le_bytes(*numbers.first_chunk()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed() -> Vec<u8> {
        let mut batch = Vec::new();
        reserve_header(&mut batch);
        batch.extend_from_slice(&[7; 100]);
        write_header(&mut batch, 42, 3);
        batch
    }

    #[test]
    fn a_written_header_parses() {
        let parsed = parse_header(&sealed()).unwrap();
        let expected = BatchHeader {
            first: 42,
            records: 3,
            bytes: 100,
        };
        assert_eq!(parsed, expected);
        let held: Vec<_> = (40..50).filter(|id| parsed.contains(*id)).collect();
        assert_eq!(held, [42, 43, 44]);
    }

    #[test]
    fn any_flipped_bit_and_any_cut_is_detected() {
        for at in 0..HEADER_BYTES {
            assert_eq!(parse_header(&sealed()[..at]), None);
            for bit in 0..8 {
                let mut bytes = sealed();
                bytes[at] ^= 1 << bit;
                assert_eq!(parse_header(&bytes), None);
            }
        }
    }
}
