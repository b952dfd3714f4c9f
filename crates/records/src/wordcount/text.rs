//! Text made up word by word, drawn from a vocabulary by Zipf's law.

use iostudy_pattern::{Stream, nth};

use crate::wordcount::tally::Tally;
use crate::wordcount::vocabulary::Spelled;
use crate::wordcount::word::Word;
use crate::wordcount::zipf::Zipf;

/// With its end.
const LONGEST_LINE: usize = 100;
/// In two KiB of a CPU's first cache.
const AHEAD_WORDS: usize = 64;

/// Makes one block of a text after the other.
pub(crate) struct Writer<'a> {
    words: Ahead<'a>,
    tally: Tally,
}

impl<'a> Writer<'a> {
    /// For a block of its own: what it holds depends on nothing else.
    pub(crate) fn new(zipf: &'a Zipf, seed: u64, file: u64, block: u64) -> Self {
        Self {
            words: Ahead::new(zipf, Stream::new(nth(nth(seed, file), block))),
            tally: Tally::default(),
        }
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
        let word = self.words.first();
        let mut len = word.len();
        if at + len > room {
            if at > 0 || room == 0 {
                return None;
            }
            len = room;
        }
        put(word, len, &mut out[at..]);
        self.tally
            .count(Word::within(word.room(), (0, len)).hash, 1);
        self.words.advance();
        Some(at + len)
    }
}

/// Write the first letters of a word. What lies behind them is written to as well: copying a fixed
/// number of bytes is faster, and the text goes on there.
#[inline]
fn put(word: &Spelled, len: usize, out: &mut [u8]) {
    match out.first_chunk_mut() {
        Some(room) => *room = *word.room(),
        None => out[..len].copy_from_slice(&word.room()[..len]),
    }
}

/// The words that come next, spelled many at a time: a CPU waits when it has to read at once and as
/// a whole what it has just written letter by letter.
struct Ahead<'a> {
    zipf: &'a Zipf,
    random: Stream,
    words: [Spelled; AHEAD_WORDS],
    first: usize,
}

impl<'a> Ahead<'a> {
    fn new(zipf: &'a Zipf, random: Stream) -> Self {
        let mut ahead = Self {
            zipf,
            random,
            words: [Spelled::NONE; AHEAD_WORDS],
            first: 0,
        };
        ahead.spell();
        ahead
    }

    #[inline]
    fn first(&self) -> &Spelled {
        &self.words[self.first]
    }

    #[inline]
    fn advance(&mut self) {
        self.first += 1;
        if self.first == AHEAD_WORDS {
            self.spell();
        }
    }

    fn spell(&mut self) {
        for word in &mut self.words {
            word.spell(self.zipf.draw(&mut self.random));
        }
        self.first = 0;
    }
}
