"""Rank sets of k configurations over W workloads, with intervals of all pairwise differences.

The input is x = s ln y: one array of blocks x configurations for each workload, NaN where a
configuration was not run, -inf where it failed. The first configuration is the baseline. All
estimates are differences of x, positive where better.

Two configurations are compared within their common blocks, so that shared influences of a block
cancel. On one workload each pair is a comparison of `iostudy.analysis.comparison`. For all
workloads together, workload w with the weight w_w has the typical difference D_w and its interval
[L_w, U_w], both by the test of verdicts. With weights that sum to 1,

    D = sum(w_w D_w),    [D - sqrt(sum(w_w^2 (D_w - L_w)^2)), D + sqrt(sum(w_w^2 (U_w - D_w)^2))]

which is the interval of Zou & Donner (2008). The difference of a configuration from the geometric
mean of all k figures is the mean of its differences from each of them, and so is its interval.

A difference within the margin counts as none. Rank sets follow from the verdicts of all pairs
(Mogstad, Romano, Shaikh & Wilhelm 2023): the rank of c is at least 1 plus the number of better
ones, and at most k minus the number of worse ones. Equal configurations share all their ranks.

docs/method/ranking.md explains how the pairs share the risk and why early stopping keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.comparison import decide_runs
from iostudy.analysis.decision import estimate_rows, estimate_shown
from iostudy.analysis.distributions import Array
from iostudy.analysis.paired import PairedRuns
from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import Verdict, classify_intervals

Words = NDArray[np.str_]
Indexes = NDArray[np.intp]

_DECIDED = (str(Verdict.BETTER), str(Verdict.WORSE))
_MIRRORED = {
    Verdict.BETTER: Verdict.WORSE,
    Verdict.WORSE: Verdict.BETTER,
    Verdict.NOT_WORSE: Verdict.NOT_BETTER,
    Verdict.NOT_BETTER: Verdict.NOT_WORSE,
}
"""The verdict of the same data with the two configurations swapped, where it is another one."""


@dataclass(frozen=True)
class BlockedRuns:
    """s ln y of one workload by block and configuration, with the positions within the block.

    NaN is no run, -inf a failed one. ``positions`` is None where a block has no one order.
    """

    figures: Array
    positions: Array | None = None

    def pairs(self, baseline: int) -> Iterator[tuple[Indexes, PairedRuns]]:
        """Yield the runs of a configuration and later ones in blocks in which one succeeded.

        Those that share the same blocks with it come together, with their indexes.
        """
        x, y = self.figures.T[baseline], self.figures.T[baseline + 1 :]
        both_failed = np.isneginf(x) & np.isneginf(y)
        common = ~(np.isnan(x) | np.isnan(y) | both_failed)
        patterns, kinds = np.unique(common, axis=0, return_inverse=True)
        for kind, blocks in enumerate(patterns):
            rows = np.flatnonzero(kinds.reshape(-1) == kind)
            others = baseline + 1 + rows
            after = None
            if self.positions is not None:
                after = self.positions.T[others][:, blocks] > self.positions.T[baseline, blocks]
            other = np.ascontiguousarray(y[rows][:, blocks])
            lost = np.cumsum(both_failed[rows], axis=-1, dtype=np.int64)[:, blocks]
            yield others, PairedRuns(np.broadcast_to(x[blocks], other.shape), other, after, lost)

    def first(self, count: int) -> BlockedRuns:
        """Return the first blocks."""
        positions = None if self.positions is None else self.positions[:count]
        return BlockedRuns(self.figures[:count], positions)

    def begins_with(self, earlier: BlockedRuns) -> bool:
        """Whether its first blocks are those of earlier runs."""
        first = self.first(len(earlier.figures))
        return all(
            one is other or np.array_equal(one, other, equal_nan=True)
            for one, other in zip(vars(first).values(), vars(earlier).values(), strict=True)
        )

    def lost(self, baseline: int) -> Indexes:
        """Return the number of blocks in which a configuration and each later one both failed."""
        failed = np.isneginf(self.figures)
        both = failed[:, baseline, None] & failed[:, baseline + 1 :]
        return np.asarray(both.sum(axis=0))


@dataclass(frozen=True)
class IntervalEstimates:
    """Log-ratios with the ends of their intervals: arrays of equal shape."""

    value: Array
    low: Array
    high: Array

    def as_fractions(self) -> IntervalEstimates:
        """Return exp(x) - 1 of each, relative differences; infinite on overflow.

        An infinite value, of failed runs, becomes NaN.
        """
        value = np.where(np.isfinite(self.value), self.value, np.nan)
        with np.errstate(over="ignore"):
            return IntervalEstimates(*map(np.expm1, (value, self.low, self.high)))


@dataclass(frozen=True)
class RankSet:
    """The possible ranks of a configuration, counted from 1, both ends included."""

    best: int
    worst: int


@dataclass(frozen=True)
class PairwiseOrder:
    """The pairwise comparisons of k configurations, on one workload or combined.

    ``pairs`` is k x k: [c, j] is how much better c is than j. ``verdicts`` are the corresponding
    verdicts.
    """

    pairs: IntervalEstimates
    verdicts: Words

    @cached_property
    def vs_mean(self) -> IntervalEstimates:
        """How much better each is than the geometric mean of all.

        The intervals hold wherever those of all pairs do.
        """
        ends = (self.pairs.value, self.pairs.low, self.pairs.high)
        with np.errstate(invalid="ignore"):
            return IntervalEstimates(*(end.mean(axis=1) for end in ends))

    @cached_property
    def ranks(self) -> tuple[RankSet, ...]:
        """The rank set of each: from 1 + the number of better ones to k - the number of worse."""
        better, worse = ((self.verdicts == word).sum(axis=1) for word in _DECIDED)
        count = len(self.verdicts)
        return tuple(
            RankSet(1 + int(before), count - int(behind))
            for before, behind in zip(worse, better, strict=True)
        )

    @property
    def best(self) -> tuple[int, ...]:
        """The set of best: those that no configuration is shown to be better than."""
        return tuple(index for index, ranks in enumerate(self.ranks) if ranks.best == 1)


@dataclass(frozen=True)
class QualitativeInteraction:
    """A pair whose order depends on the workload.

    ``first`` is better than ``second`` on the workloads ``better`` and worse on ``worse``, both
    given as indexes.
    """

    first: int
    second: int
    better: tuple[int, ...]
    worse: tuple[int, ...]


@dataclass(frozen=True)
class Ranking:
    """The combined order, the order on each workload, and the qualitative interactions."""

    combined: PairwiseOrder
    by_workload: tuple[PairwiseOrder, ...]
    interactions: tuple[QualitativeInteraction, ...]

    @property
    def has_single_order(self) -> bool:
        """False where a qualitative interaction involves one of the set of best."""
        best = set(self.combined.best)
        return not any(best & {crossing.first, crossing.second} for crossing in self.interactions)


def is_rankable(workloads: Sequence[BlockedRuns], rule: Rule) -> bool:
    """Whether a ranking adds to the verdicts, and every pair has enough common blocks."""
    count = workloads[0].figures.shape[1]
    return count > (2 if len(workloads) == 1 else 1) and all(
        pairs.other.shape[-1] >= rule.min_blocks
        for runs in workloads
        for baseline in range(count - 1)
        for _, pairs in runs.pairs(baseline)
    )


def rank(workloads: Sequence[BlockedRuns], weights: Sequence[float], rule: Rule) -> Ranking:
    """Rank configurations by runs that are ``is_rankable``.

    ``weights`` are positive, and only their ratios matter. ``rule`` is that of the verdicts, and
    applies to the baseline's pairs on each workload. The combined order has a further
    risk of the same size.
    """
    # Verdicts use the blocks up to the last analysis.
    analysed = [runs.first(rule.last_look(len(runs.figures))) for runs in workloads]
    alone = tuple(_order_on_workload(runs, len(analysed), rule) for runs in analysed)
    shares = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    combined = alone[0] if len(alone) == 1 else combine_orders(analysed, shares, rule)
    return Ranking(combined, alone, _qualitative_interactions([order.verdicts for order in alone]))


def _order_on_workload(runs: BlockedRuns, workloads: int, rule: Rule) -> PairwiseOrder:
    """The order on one of several workloads.

    Two configurations other than the baseline get a verdict only where one of them differs from
    the baseline (gatekeeping). With half of the risk for them, all ranks hold at the risk.
    """
    count = runs.figures.shape[1]
    others = replace(rule, comparisons=max(1, 2 * _pair_count(count - 1) * workloads))
    verdicts = np.full((count, count), str(Verdict.EQUIVALENT), dtype="<U12")

    def compare_with(one: int) -> Array:
        estimates = np.zeros((3, count))
        for others_of_one, runs_of_pairs in runs.pairs(one):
            pair_rule = others if one else rule
            outcomes = decide_runs(runs_of_pairs, pair_rule)
            gate = np.isin(verdicts[0, others_of_one], _DECIDED)
            gate |= not one or verdicts[0, one] in _DECIDED
            words = np.where(gate, outcomes.words, str(Verdict.INCONCLUSIVE))
            verdicts[others_of_one, one] = words
            verdicts[one, others_of_one] = _mirror(words)
            shown = estimate_shown(runs_of_pairs.differences, outcomes, pair_rule)
            estimates[:, others_of_one] = shown
        return estimates

    return PairwiseOrder(_estimate_pairs(count, compare_with), verdicts)


def _mirror(verdicts: Words) -> Words:
    """Return the verdicts of the same data with the two configurations swapped."""
    words = [np.str_(mirrored) for mirrored in _MIRRORED.values()]
    return np.select([verdicts == str(verdict) for verdict in _MIRRORED], words, default=verdicts)


def combine_orders(workloads: Sequence[BlockedRuns], shares: Array, rule: Rule) -> PairwiseOrder:
    """Return the combined order over several workloads, whose ``shares`` sum to 1.

    All pairs have the one level a*.
    """
    count = workloads[0].figures.shape[1]
    pair_rule = replace(rule, comparisons=_pair_count(count) * len(workloads))

    def combine_with(one: int) -> Array:
        alone = np.array([_estimate_with(one, runs, pair_rule) for runs in workloads])
        return _combine(shares[:, None] * alone.transpose(1, 0, 2), rule.bias)

    pairs = _estimate_pairs(count, combine_with)
    verdicts = classify_intervals(pairs.low, pairs.high, rule.min_blocks, rule)
    return PairwiseOrder(pairs, verdicts)


def _estimate_with(one: int, runs: BlockedRuns, rule: Rule) -> Array:
    """Typical differences of later configurations on a workload, with intervals without bias."""
    estimates = np.zeros((3, runs.figures.shape[1]))
    unbiased = replace(rule, bias=0.0)
    for others, pairs in runs.pairs(one):
        ratios = pairs.differences
        level = rule.repeated_alpha(ratios.shape[-1])
        estimates[:, others] = estimate_rows(ratios, level, unbiased)
    return estimates


def _combine(weighted: Array, bias: float) -> Array:
    """Weighted sums of typical differences with the ends of their intervals.

    ``weighted`` has values, lows and highs, each by workload and pair.
    """
    with np.errstate(invalid="ignore"):
        values, lows, highs = weighted
        value, low, high = weighted.sum(axis=1)
        # Where most runs of a workload failed, its difference is infinite. The sums of the ends
        # then are wider than needed.
        is_finite = np.isfinite(value)
        low = np.where(is_finite, value - np.sqrt(((values - lows) ** 2).sum(axis=0)), low)
        high = np.where(is_finite, value + np.sqrt(((highs - values) ** 2).sum(axis=0)), high)
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    return np.array([value, low - bias, high + bias])


def _estimate_pairs(count: int, estimate_with: Callable[[int], Array]) -> IntervalEstimates:
    """Estimates of all pairs: [c, j] of the pair is how much better c is than j.

    ``estimate_with`` gives value, low and high of each later configuration against one.
    """
    value, low, high = (np.zeros((count, count)) for _ in range(3))
    for row in range(count - 1):
        later = slice(row + 1, count)
        ratio, least, most = estimate_with(row)[:, later]
        value[later, row], low[later, row], high[later, row] = ratio, least, most
        value[row, later], low[row, later], high[row, later] = -ratio, -most, -least
    return IntervalEstimates(value, low, high)


def _qualitative_interactions(verdicts: Sequence[Words]) -> tuple[QualitativeInteraction, ...]:
    """Find the pairs with the verdict better on one workload and worse on another.

    This is the range test for qualitative interaction (Piantadosi & Gail 1993), with the critical
    values of the verdicts.
    """
    better, worse = (np.array(verdicts) == word for word in _DECIDED)
    crossed = np.argwhere(np.triu(better.any(axis=0) & worse.any(axis=0)))
    return tuple(
        QualitativeInteraction(int(c), int(j), _indexes(better[:, c, j]), _indexes(worse[:, c, j]))
        for c, j in crossed
    )


def _indexes(true: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(map(int, np.flatnonzero(true)))


def _pair_count(count: int) -> int:
    return count * (count - 1) // 2
