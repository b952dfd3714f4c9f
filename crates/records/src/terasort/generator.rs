//! Row generator as in Hadoop's `GenSort`: a row is a function of its number.

use super::random::Random;
use super::row::{KEY_BYTES, ROW_BYTES};

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Constant bytes of every row: separators and the leading zeros of its number.
const TEMPLATE: [u8; ROW_BYTES] = {
    let mut row = [b'0'; ROW_BYTES];
    let breaks: [(usize, &[u8]); 3] = [
        (10, &[0x00, 0x11]),
        (44, &[0x88, 0x99, 0xAA, 0xBB]),
        (96, &[0xCC, 0xDD, 0xEE, 0xFF]),
    ];
    let mut which = 0;
    while which < breaks.len() {
        let (at, bytes) = breaks[which];
        let mut byte = 0;
        while byte < bytes.len() {
            row[at + byte] = bytes[byte];
            byte += 1;
        }
        which += 1;
    }
    row
};

/// End of the row number's 32 digits.
const NUMBER_END: usize = 44;
/// Filler: each of 12 hexadecimal digits four times.
const FILLER: std::ops::Range<usize> = 48..96;
const REPEATS: usize = 4;

/// Generator of consecutive rows.
pub(crate) struct Generator {
    random: Random,
    number: u64,
}

impl Generator {
    /// Start at the row with this number.
    pub(crate) fn from_row(number: u64) -> Self {
        Self {
            random: Random::from_row(number),
            number,
        }
    }

    #[inline]
    pub(crate) fn next_row(&mut self) -> [u8; ROW_BYTES] {
        let random = self.random.next();
        let mut row = TEMPLATE;
        row[..KEY_BYTES].copy_from_slice(&random.to_be_bytes()[..KEY_BYTES]);
        write_number(&mut row[..NUMBER_END], self.number);
        let mut rest = random;
        for four in row[FILLER].rchunks_exact_mut(REPEATS) {
            four.fill(HEX[(rest & 0xF) as usize]);
            rest >>= 4;
        }
        self.number += 1;
        row
    }
}

/// Write a number right-aligned into `to`.
#[inline]
fn write_number(to: &mut [u8], number: u64) {
    let mut rest = number;
    for digit in to.iter_mut().rev() {
        if rest == 0 {
            break;
        }
        *digit = HEX[(rest & 0xF) as usize];
        rest >>= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::Checksum;
    use super::*;

    /// Output of `TeraGen 1000` and `TeraChecksum` of Hadoop 3.4.2.
    #[test]
    fn rows_are_those_of_hadoop() {
        let mut generator = Generator::from_row(0);
        let rows: Vec<_> = (0..1000).map(|_| generator.next_row()).collect();
        let first = b"JimGrayRIP\x00\x1100000000000000000000000000000000\x88\x99\xaa\xbb\
            222200002222000022220000222200002222000000001111\xcc\xdd\xee\xff";
        let second = b"\x95\xe0\xe4\x82\x62\xb3\xed\xfe\x04\x47\x00\x11\
            00000000000000000000000000000001\x88\x99\xaa\xbb\
            999944448888555\x35CCCC777755555555BBBB666644446666\xcc\xdd\xee\xff";
        assert_eq!(&rows[0], first);
        assert_eq!(&rows[1], second);
        let mut checksum = Checksum::default();
        for row in &rows {
            checksum.add_row(row);
        }
        assert_eq!(checksum.to_string(), "1f9ffe645ec");
    }
}
