//! Tokenization at the white space of Java's `StringTokenizer`.

/// Default delimiters of `java.util.StringTokenizer`.
#[inline]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// Block size: one bit of a `u64` per byte.
const BLOCK_BYTES: usize = 64;

/// Bit mask of white space; the first byte is the lowest bit.
///
/// Branch-free, so that the compiler vectorizes it.
#[inline]
fn spaces(block: &[u8; BLOCK_BYTES]) -> u64 {
    let mut found = [0_u8; BLOCK_BYTES];
    for (flag, byte) in found.iter_mut().zip(block) {
        *flag = u8::from(is_space(*byte));
    }
    let mut bits = 0;
    for (index, flags) in found.chunks_exact(8).enumerate() {
        let flags = u64::from_le_bytes(flags.try_into().expect("eight bytes"));
        // Collects the lowest bit of each byte in the highest byte, in byte order.
        let gathered = flags.wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= gathered << (8 * index);
    }
    bits
}

/// Iterator over word positions as `(start, end)`.
///
/// An unfinished word at the end is separate: see [`Words::open`].
pub(crate) struct Words<'a> {
    text: &'a [u8],
    /// Start of the block that `changes` describes.
    at: usize,
    /// Bits of unprocessed word boundaries in the block.
    changes: u64,
    /// Start of the current word.
    start: Option<usize>,
    /// 1 if the previous block ended within a word.
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
        words.scan_block();
        words
    }

    /// Start of the unfinished word at the end of the text. Call it at the end.
    pub(crate) fn open(&self) -> Option<usize> {
        self.start
    }

    /// Scan the block at `self.at`.
    #[inline]
    fn scan_block(&mut self) {
        let rest = &self.text[self.at.min(self.text.len())..];
        let (letters, valid) = if let Some(block) = rest.first_chunk() {
            (!spaces(block), u64::MAX)
        } else {
            let mut block = [b' '; BLOCK_BYTES];
            block[..rest.len()].copy_from_slice(rest);
            (!spaces(&block), (1 << rest.len()) - 1) // no word ends at the end of the text
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
            self.scan_block();
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
