//! A batch of records, which are made durable together: what they are is told before them.
//!
//! `magic | first transaction: u64 | records: u32 | their bytes: u64 | crc32c of these: u32`, then
//! the records. So a batch that is not whole is known to be none, wherever it ends.

const MAGIC: &[u8; 4] = b"next";
const CHECKED: usize = MAGIC.len() + 8 + 4 + 8;
pub(crate) const HEAD: usize = CHECKED + 4;

/// What the head of a batch tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// The transaction of the first record.
    pub(crate) first: u64,
    pub(crate) records: u32,
    /// Of all its records.
    pub(crate) bytes: u64,
}

impl Head {
    pub(crate) fn holds(&self, transaction: u64) -> bool {
        transaction
            .checked_sub(self.first)
            .is_some_and(|place| place < self.records.into())
    }
}

/// Leave room for the head.
pub(crate) fn begin(batch: &mut Vec<u8>) {
    batch.resize(batch.len() + HEAD, 0);
}

/// Write the head of a batch that has all its records.
pub(crate) fn seal(batch: &mut [u8], first: u64, records: u32) {
    let (head, rest) = batch.split_at_mut(HEAD);
    let bytes = rest.len() as u64;
    let parts: [&[u8]; 4] = [
        MAGIC,
        &first.to_le_bytes(),
        &records.to_le_bytes(),
        &bytes.to_le_bytes(),
    ];
    head[..CHECKED].copy_from_slice(&parts.concat());
    let checksum = crc32c::crc32c(&head[..CHECKED]);
    head[CHECKED..].copy_from_slice(&checksum.to_le_bytes());
}

/// The head that `bytes` begin with; None if they do not.
pub(crate) fn head(bytes: &[u8]) -> Option<Head> {
    let (checked, rest) = bytes.split_first_chunk::<CHECKED>()?;
    let numbers = checked.strip_prefix(MAGIC)?;
    if crc32c::crc32c(checked) != u32::from_le_bytes(*rest.first_chunk()?) {
        return None;
    }
    let (first, numbers) = numbers.split_first_chunk()?;
    let (records, numbers) = numbers.split_first_chunk()?;
    Some(Head {
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
        begin(&mut batch);
        batch.extend_from_slice(&[7; 100]);
        seal(&mut batch, 42, 3);
        batch
    }

    #[test]
    fn what_is_sealed_is_told() {
        let told = head(&sealed()).unwrap();
        let expected = Head {
            first: 42,
            records: 3,
            bytes: 100,
        };
        assert_eq!(told, expected);
        let held: Vec<_> = (40..50).filter(|id| told.holds(*id)).collect();
        assert_eq!(held, [42, 43, 44]);
    }

    #[test]
    fn any_bit_flipped_and_any_cut_is_no_head() {
        for at in 0..HEAD {
            assert_eq!(head(&sealed()[..at]), None);
            for bit in 0..8 {
                let mut bytes = sealed();
                bytes[at] ^= 1 << bit;
                assert_eq!(head(&bytes), None);
            }
        }
    }
}
