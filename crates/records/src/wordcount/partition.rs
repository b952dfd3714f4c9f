//! Partitioning of words as in Hadoop's `HashPartitioner` for a `Text`.

/// Return the reducer of a word: `(hashCode & Integer.MAX_VALUE) % reducers`.
///
/// Source: `org.apache.hadoop.mapreduce.lib.partition.HashPartitioner`; a `Text` has the hash code
/// of `org.apache.hadoop.io.WritableComparator.hashBytes`, whose bytes are signed.
pub(crate) fn partition(word: &[u8], reducers: usize) -> usize {
    let code = word.iter().fold(1_i32, |code, byte| {
        code.wrapping_mul(31)
            .wrapping_add(i32::from(i8::from_ne_bytes([*byte])))
    });
    usize::try_from(code & i32::MAX).expect("the value is positive") % reducers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given by `new HashPartitioner<Text, Object>().getPartition(new Text(word), null, 1000)`.
    #[test]
    fn words_go_where_hadoop_sends_them() {
        let known = [
            ("the", 592),
            ("storage", 930),
            ("na\u{ef}ve", 847),
            ("a", 128),
            ("Hadoop", 766),
            ("\u{d55c}\u{ad6d}\u{c5b4}", 939),
        ];
        for (word, expected) in known {
            assert_eq!(partition(word.as_bytes(), 1000), expected, "{word}");
        }
    }

    #[test]
    fn a_single_reducer_has_all_words() {
        assert_eq!(partition(b"anything", 1), 0);
    }
}
