//! Where words begin and end: at the white space of Java's `StringTokenizer`.

/// The delimiters of `java.util.StringTokenizer` unless it is given others.
#[inline]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// As many bytes as the result of their comparison has bits.
const BLOCK_BYTES: usize = 64;

/// A bit per byte, set where it is white space; the first byte is the lowest bit.
///
/// Without a branch, so that the compiler compares many bytes at a time.
#[inline]
fn spaces(block: &[u8; BLOCK_BYTES]) -> u64 {
    let mut found = [0_u8; BLOCK_BYTES];
    for (flag, byte) in found.iter_mut().zip(block) {
        *flag = u8::from(is_space(*byte));
    }
    let mut bits = 0;
    for (index, flags) in found.chunks_exact(8).enumerate() {
        let flags = u64::from_le_bytes(flags.try_into().expect("eight bytes"));
        // Gathers the lowest bit of each byte in the highest byte, the first byte's lowest.
        let gathered = flags.wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= gathered << (8 * index);
    }
    bits
}

/// Where the words of a text lie, in their order, as `(start, end)`.
///
/// A word that is still open at the end of the text is kept apart: see [`Words::open`].
pub(crate) struct Words<'a> {
    text: &'a [u8],
    /// Where the block begins that `changes` is about.
    at: usize,
    /// A bit for each byte of the block before which a word begins or ends, those not yet seen.
    changes: u64,
    /// Where the word begins that has not ended yet.
    start: Option<usize>,
    /// 1 if the block before ended within a word.
    inside: u64,
}

impl<'a> Words<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let mut words = Self {
            text,
            at: 0,
            changes: 0,
            start: None,
            inside: 0,
        };
        words.look();
        words
    }

    /// Where the word begins that goes on to the end of the text; to be asked at the end.
    pub(crate) fn open(&self) -> Option<usize> {
        self.start
    }

    /// Compare the block that begins at `self.at`.
    #[inline]
    fn look(&mut self) {
        let rest = &self.text[self.at.min(self.text.len())..];
        let (letters, valid) = if let Some(block) = rest.first_chunk() {
            (!spaces(block), u64::MAX)
        } else {
            let mut block = [b' '; BLOCK_BYTES];
            block[..rest.len()].copy_from_slice(rest);
            (!spaces(&block), (1 << rest.len()) - 1) // no word ends where the text does
        };
        self.changes = (letters ^ ((letters << 1) | self.inside)) & valid;
        self.inside = letters >> (BLOCK_BYTES - 1);
    }
}

impl Iterator for Words<'_> {
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            while self.changes != 0 {
                let here = self.at + self.changes.trailing_zeros() as usize;
                self.changes &= self.changes - 1;
                match self.start.take() {
                    Some(start) => return Some((start, here)),
                    None => self.start = Some(here),
                }
            }
            self.at += BLOCK_BYTES;
            if self.at >= self.text.len() {
                return None;
            }
            self.look();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &[u8]) -> (Vec<&[u8]>, Option<usize>) {
        let mut words = Words::new(text);
        let ended = words.by_ref().map(|(start, end)| &text[start..end]);
        (ended.collect(), words.open())
    }

    #[test]
    fn all_white_space_of_string_tokenizer_divides_and_no_other() {
        let text = b" a\tb\nc\rd\x0ce\x0bf\xc2\xa0g\0h \n";
        assert_eq!(
            found(text).0,
            [&b"a"[..], b"b", b"c", b"d", b"e\x0bf\xc2\xa0g\0h"]
        );
    }

    #[test]
    fn a_word_at_the_end_stays_open_wherever_the_blocks_lie() {
        for len in 0..200 {
            let mut text = vec![b' '; len];
            assert_eq!(found(&text), (vec![], None));
            text.push(b'x');
            assert_eq!(found(&text), (vec![], Some(len)));
            text.extend(vec![b'x'; len]);
            assert_eq!(found(&text), (vec![], Some(len)));
            text.push(b'\n');
            assert_eq!(found(&text), (vec![&text[len..=2 * len]], None));
        }
    }

    proptest! {
        #[test]
        fn words_are_what_lies_between_white_space(
            text in proptest::collection::vec(
                proptest::sample::select(&b" \t\n\r\x0c\x0b\0abc\xff"[..]), 0..400
            )
        ) {
            let mut expected: Vec<&[u8]> = text.split(|b| is_space(*b)).collect();
            let last = expected.pop().unwrap();
            expected.retain(|word| !word.is_empty());
            let open = (!last.is_empty()).then(|| text.len() - last.len());
            prop_assert_eq!(found(&text), (expected, open));
        }
    }
}
