//! Loser tree for a k-way merge.

use std::mem::swap;

/// Tournament tree of k entrants with the smallest as winner. Replacing the winner takes log2(k)
/// comparisons. Source: Knuth, The Art of Computer Programming, volume 3, section 5.4.1.
pub(crate) struct LoserTree<T> {
    /// The winner, then the loser of each match; the parents of entrant i begin at (i + k) / 2.
    nodes: Vec<T>,
}

impl<T: Ord + Clone> LoserTree<T> {
    /// Create the tree with one entrant per source, at least one.
    pub(crate) fn new(entrants: &[T]) -> Self {
        let mut winners = [entrants, entrants].concat();
        let mut nodes = winners[..entrants.len()].to_vec();
        for node in (1..entrants.len()).rev() {
            let (left, right) = (winners[2 * node].clone(), winners[2 * node + 1].clone());
            let (winner, loser) = if right < left {
                (right, left)
            } else {
                (left, right)
            };
            winners[node] = winner;
            nodes[node] = loser;
        }
        nodes[0] = winners[1 % winners.len()].clone();
        Self { nodes }
    }

    #[inline]
    pub(crate) fn winner(&self) -> &T {
        &self.nodes[0]
    }

    /// Replace the winner, which came from `source`, by `next`.
    #[inline]
    pub(crate) fn replace_winner(&mut self, source: usize, mut next: T) {
        let mut node = usize::midpoint(source, self.nodes.len());
        while node > 0 {
            if self.nodes[node] < next {
                swap(&mut self.nodes[node], &mut next);
            }
            node /= 2;
        }
        self.nodes[0] = next;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn merges_sorted_sources(
            sources in prop::collection::vec(prop::collection::vec(0u32..50, 0..20), 1..12),
        ) {
            let sorted: Vec<Vec<u32>> = sources.iter().map(|source| {
                let mut source = source.clone();
                source.sort_unstable();
                source
            }).collect();
            let mut rests: Vec<_> = sorted.iter().map(|source| source.iter()).collect();
            let mut next = |source: usize| (rests[source].next().map_or(u32::MAX, |v| *v), source);
            let first: Vec<_> = (0..sorted.len()).map(&mut next).collect();
            let mut tree = LoserTree::new(&first);
            let mut merged = Vec::new();
            loop {
                let (value, source) = *tree.winner();
                if value == u32::MAX {
                    break;
                }
                merged.push(value);
                tree.replace_winner(source, next(source));
            }
            let mut expected = sorted.concat();
            expected.sort_unstable();
            prop_assert_eq!(merged, expected);
        }
    }
}
