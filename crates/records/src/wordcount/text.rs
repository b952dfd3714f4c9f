//! Text made up word by word, drawn from a vocabulary by Zipf's law.

use iostudy_pattern::{Stream, nth};
use rand_distr::{Distribution, Zipf};

use crate::wordcount::tally::Tally;
use crate::wordcount::vocabulary::{LONGEST_WORD, spell};
use crate::wordcount::word::Word;

/// With its end.
const LONGEST_LINE: usize = 100;

/// Makes one block of a text after the other.
pub(crate) struct Writer {
    zipf: Zipf<f64>,
    random: Stream,
    /// The rank of the word that comes next.
    next: u64,
    tally: Tally,
}

impl Writer {
    /// For a block of its own: what it holds depends on nothing else.
    pub(crate) fn new(zipf: Zipf<f64>, seed: u64, file: u64, block: u64) -> Self {
        let mut writer = Self {
            zipf,
            random: Stream::new(nth(nth(seed, file), block)),
            next: 0,
            tally: Tally::default(),
        };
        writer.draw();
        writer
    }

    /// Fill `block` with lines, of which the last one ends with it; what was written.
    pub(crate) fn fill(mut self, block: &mut [u8]) -> Tally {
        let mut at = 0;
        while at < block.len() {
            at += self.line(&mut block[at..]);
        }
        self.tally
    }

    /// Write one line to the start of `out`, which is not empty; its length with its end.
    fn line(&mut self, out: &mut [u8]) -> usize {
        let room = out.len().min(LONGEST_LINE) - 1;
        let mut at = 0;
        while let Some(end) = self.word(out, at, room) {
            out[end] = b' ';
            at = end + 1;
        }
        // The last blank is the end of the line, which is a line of its own if no word fits.
        let end = at.saturating_sub(1);
        out[end] = b'\n';
        end + 1
    }

    /// Write the next word at `at` if it ends by `room`; only the first of a line is cut to fit.
    #[inline]
    fn word(&mut self, out: &mut [u8], at: usize, room: usize) -> Option<usize> {
        let mut letters = [0; LONGEST_WORD];
        let mut len = spell(self.next, &mut letters);
        if at + len > room {
            if at > 0 || room == 0 {
                return None;
            }
            len = room;
        }
        out[at..at + len].copy_from_slice(&letters[..len]);
        self.tally.count(Word::alone(&letters[..len]).hash, 1);
        self.draw();
        Some(at + len)
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a whole number, 1 or more
    fn draw(&mut self) {
        self.next = self.zipf.sample(&mut self.random) as u64;
    }
}
