//! Orders: the records of a file one after the other.

/// A piece of a file that one system call moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// How many bytes it has.
    pub len: usize,
}

/// The records of a file from start to end; the last one is short if the sizes do not divide.
///
/// # Panics
///
/// If `record_bytes` is zero.
pub fn sequential(file_bytes: u64, record_bytes: usize) -> impl Iterator<Item = Record> {
    (0..file_bytes).step_by(record_bytes).map(move |offset| {
        let left = usize::try_from(file_bytes - offset).unwrap_or(usize::MAX);
        Record {
            offset,
            len: left.min(record_bytes),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_record_is_short() {
        let records: Vec<_> = sequential(10, 4).map(|r| (r.offset, r.len)).collect();
        assert_eq!(records, [(0, 4), (4, 4), (8, 2)]);
    }

    #[test]
    fn a_record_as_large_as_the_file_is_the_only_one() {
        assert_eq!(sequential(4096, 4096).count(), 1);
    }
}
