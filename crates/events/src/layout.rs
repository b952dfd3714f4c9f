//! Where the pieces of an event lie.

use iostudy_pattern::{Record, nth};

/// How every event lies in its file: `event_bytes` in `reads` pieces, `gap_bytes` between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// What a job reads of an event.
    pub event_bytes: usize,
    /// What lies between the pieces, before the first and after the last of them, in all.
    pub gap_bytes: u64,
    /// In how many pieces an event is read.
    pub reads: usize,
}

impl Layout {
    /// How far it is from one event to the next.
    #[must_use]
    pub fn span_bytes(&self) -> u64 {
        self.event_bytes as u64 + self.gap_bytes
    }

    /// The longest piece, if all are multiples of `grain_bytes`.
    #[must_use]
    pub fn longest_piece(&self, grain_bytes: usize) -> usize {
        (self.event_bytes / grain_bytes).div_ceil(self.reads) * grain_bytes
    }

    /// The pieces of an event in ascending order, all multiples of `grain_bytes`.
    ///
    /// The pieces are as equal as they can be; the gaps between them come from `key`: the bytes of
    /// all gaps are cut at places drawn evenly.
    #[allow(clippy::missing_panics_doc)] // a grain is at least a byte
    pub fn pieces(
        &self,
        key: u64,
        event: u64,
        grain_bytes: usize,
    ) -> impl Iterator<Item = Record> + use<> {
        let grain = grain_bytes as u64;
        let (grains, reads) = (self.event_bytes as u64 / grain, self.reads as u64);
        let begin = event * self.span_bytes();
        let gaps = self.gaps_before(nth(key, event), grain);
        gaps.into_iter().zip(0..).map(move |(gap, read)| {
            let (from, to) = (grains * read / reads, grains * (read + 1) / reads);
            Record {
                offset: begin + (gap + from) * grain,
                len: usize::try_from((to - from) * grain).expect("a piece of an event"),
            }
        })
    }

    /// For each piece the grains of all gaps before it.
    fn gaps_before(&self, key: u64, grain: u64) -> Vec<u64> {
        let cuts = self.gap_bytes / grain + 1;
        let mut before: Vec<u64> = (0..self.reads as u64).map(|i| nth(key, i) % cuts).collect();
        before.sort_unstable();
        before
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_make_up_the_event_without_touching_each_other_or_the_next(
            grain in prop_oneof![Just(1_usize), Just(4096)],
            grains in 1_usize..500,
            gaps in 0_u64..500,
            reads in 1_usize..50,
            key: u64,
            event in 0_u64..1000,
        ) {
            let reads = reads.min(grains);
            let layout = Layout {
                event_bytes: grains * grain,
                gap_bytes: gaps * grain as u64,
                reads,
            };
            let pieces: Vec<_> = layout.pieces(key, event, grain).collect();
            prop_assert_eq!(pieces.len(), reads);
            prop_assert_eq!(pieces.iter().map(|p| p.len).sum::<usize>(), layout.event_bytes);
            let mut end = event * layout.span_bytes();
            for piece in &pieces {
                prop_assert!(piece.offset >= end);
                prop_assert!((1..=layout.longest_piece(grain)).contains(&piece.len));
                prop_assert_eq!(piece.offset % grain as u64, 0);
                prop_assert_eq!(piece.len % grain, 0);
                end = piece.offset + piece.len as u64;
            }
            prop_assert!(end <= (event + 1) * layout.span_bytes());
            prop_assert!(pieces.iter().copied().eq(layout.pieces(key, event, grain)));
        }
    }

    #[test]
    fn gaps_differ_from_event_to_event() {
        let layout = Layout {
            event_bytes: 1000,
            gap_bytes: 1000,
            reads: 4,
        };
        let within = |event| -> Vec<u64> {
            let begin = event * layout.span_bytes();
            layout
                .pieces(7, event, 1)
                .map(|p| p.offset - begin)
                .collect()
        };
        assert_ne!(within(0), within(1));
    }
}
