//! Placement of an event's pieces in its file.

use iostudy_pattern::{Record, nth};

/// Layout of every event: `event_bytes` in `reads` pieces with `gap_bytes` between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Bytes that a job reads per event.
    pub event_bytes: usize,
    /// Total gap bytes between, before and after the pieces.
    pub gap_bytes: u64,
    /// Number of pieces per event.
    pub reads: usize,
}

impl Layout {
    /// Distance between the starts of two events.
    pub fn span_bytes(&self) -> u64 {
        self.event_bytes as u64 + self.gap_bytes
    }

    /// Size of the largest piece, in multiples of `unit_bytes`.
    pub fn max_piece_bytes(&self, unit_bytes: usize) -> usize {
        (self.event_bytes / unit_bytes).div_ceil(self.reads) * unit_bytes
    }

    /// Pieces of an event in ascending order, in multiples of `unit_bytes`.
    ///
    /// Pieces are as equal as possible. Gap positions are uniform random numbers derived from
    /// `key`.
    #[allow(clippy::missing_panics_doc)] // a unit is at least a byte
    pub fn pieces(
        &self,
        key: u64,
        event: u64,
        unit_bytes: usize,
    ) -> impl Iterator<Item = Record> + use<> {
        let unit = unit_bytes as u64;
        let (units, reads) = (self.event_bytes as u64 / unit, self.reads as u64);
        let begin = event * self.span_bytes();
        let gaps = self.gaps_before(nth(key, event), unit);
        gaps.into_iter().zip(0..).map(move |(gap, read)| {
            let (from, to) = (units * read / reads, units * (read + 1) / reads);
            Record {
                offset: begin + (gap + from) * unit,
                len: usize::try_from((to - from) * unit).expect("a piece of an event"),
            }
        })
    }

    /// For each piece the units of all gaps before it.
    fn gaps_before(&self, key: u64, unit: u64) -> Vec<u64> {
        let cuts = self.gap_bytes / unit + 1;
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
            unit in prop_oneof![Just(1_usize), Just(4096)],
            units in 1_usize..500,
            gaps in 0_u64..500,
            reads in 1_usize..50,
            key: u64,
            event in 0_u64..1000,
        ) {
            let reads = reads.min(units);
            let layout = Layout {
                event_bytes: units * unit,
                gap_bytes: gaps * unit as u64,
                reads,
            };
            let pieces: Vec<_> = layout.pieces(key, event, unit).collect();
            prop_assert_eq!(pieces.len(), reads);
            prop_assert_eq!(pieces.iter().map(|p| p.len).sum::<usize>(), layout.event_bytes);
            let mut end = event * layout.span_bytes();
            for piece in &pieces {
                prop_assert!(piece.offset >= end);
                prop_assert!((1..=layout.max_piece_bytes(unit)).contains(&piece.len));
                prop_assert_eq!(piece.offset % unit as u64, 0);
                prop_assert_eq!(piece.len % unit, 0);
                end = piece.offset + piece.len as u64;
            }
            prop_assert!(end <= (event + 1) * layout.span_bytes());
            prop_assert!(pieces.iter().copied().eq(layout.pieces(key, event, unit)));
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
