//! Text generator with Zipf-distributed words.

use iostudy_pattern::{Stream, nth};

use crate::wordcount::vocabulary::SpelledWord;
use crate::wordcount::word::Word;
use crate::wordcount::word::WordSummary;
use crate::wordcount::zipf::Zipf;

/// Maximum line length, with the line feed.
const MAX_LINE_BYTES: usize = 100;
/// Buffered words: 2 KiB, within the L1 cache.
const AHEAD_WORDS: usize = 64;

/// Generator of text blocks.
pub(crate) struct Writer<'a> {
    words: WordBuffer<'a>,
    summary: WordSummary,
}

impl<'a> Writer<'a> {
    /// Create the writer of a block; its content depends only on these arguments.
    pub(crate) fn new(zipf: &'a Zipf, seed: u64, file: u64, block: u64) -> Self {
        Self {
            words: WordBuffer::new(zipf, Stream::new(nth(nth(seed, file), block))),
            summary: WordSummary::default(),
        }
    }

    /// Fill `block` with complete lines and return their summary.
    pub(crate) fn fill(mut self, block: &mut [u8]) -> WordSummary {
        let mut at = 0;
        while at < block.len() {
            at += self.line(&mut block[at..]);
        }
        self.summary
    }

    /// Write one line to the start of `out`, which is not empty. Return its length with the line
    /// feed.
    fn line(&mut self, out: &mut [u8]) -> usize {
        let room = out.len().min(MAX_LINE_BYTES) - 1;
        let mut at = 0;
        while let Some(end) = self.word(out, at, room) {
            out[end] = b' ';
            at = end + 1;
        }
        // The last blank becomes the line feed; a line is empty if no word fits.
        let end = at.saturating_sub(1);
        out[end] = b'\n';
        end + 1
    }

    /// Write the next word at `at` if it ends by `room`; only the first word of a line is
    /// truncated.
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
        self.summary
            .count(Word::within(word.room(), (0, len)).hash, 1);
        self.words.advance();
        Some(at + len)
    }
}

/// Write the first letters of a word. It overwrites bytes behind them, because a copy of fixed size
/// is faster.
#[inline]
fn put(word: &SpelledWord, len: usize, out: &mut [u8]) {
    match out.first_chunk_mut() {
        Some(room) => *room = *word.room(),
        None => out[..len].copy_from_slice(&word.room()[..len]),
    }
}

/// Buffer of upcoming words, spelled in batches to avoid store-forwarding stalls.
struct WordBuffer<'a> {
    zipf: &'a Zipf,
    random: Stream,
    words: [SpelledWord; AHEAD_WORDS],
    first: usize,
}

impl<'a> WordBuffer<'a> {
    fn new(zipf: &'a Zipf, random: Stream) -> Self {
        let mut ahead = Self {
            zipf,
            random,
            words: [SpelledWord::NONE; AHEAD_WORDS],
            first: 0,
        };
        ahead.spell();
        ahead
    }

    #[inline]
    fn first(&self) -> &SpelledWord {
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
