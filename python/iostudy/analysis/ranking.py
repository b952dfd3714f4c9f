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

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.comparison import compare_runs
from iostudy.analysis.decision import estimate, interval_ends
from iostudy.analysis.paired import PairedRuns
from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import Verdict, classify_intervals

Array = NDArray[np.float64]
Words = NDArray[np.str_]

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

    def pair(self, baseline: int, other: int) -> PairedRuns:
        """Return the runs of two configurations in the blocks in which one of both succeeded."""
        x, y = self.figures[:, baseline], self.figures[:, other]
        common = ~(np.isnan(x) | np.isnan(y)) & ~(np.isneginf(x) & np.isneginf(y))
        after = None
        if self.positions is not None:
            after = self.positions[common, other] > self.positions[common, baseline]
        return PairedRuns(x[common], y[common], after)

    def first(self, count: int) -> BlockedRuns:
        """Return the first blocks."""
        positions = None if self.positions is None else self.positions[:count]
        return BlockedRuns(self.figures[:count], positions)


@dataclass(frozen=True)
class IntervalEstimates:
    """Log-ratios with the ends of their intervals: arrays of equal shape."""

    value: Array
    low: Array
    high: Array


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

    @property
    def vs_mean(self) -> IntervalEstimates:
        """How much better each is than the geometric mean of all.

        The intervals hold wherever those of all pairs do.
        """
        ends = (self.pairs.value, self.pairs.low, self.pairs.high)
        with np.errstate(invalid="ignore"):
            return IntervalEstimates(*(end.mean(axis=1) for end in ends))

    @property
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
        len(runs.pair(*pair).other) >= rule.min_blocks
        for runs in workloads
        for pair in combinations(range(count), 2)
    )


def _analysed(runs: BlockedRuns, rule: Rule) -> BlockedRuns:
    """The blocks up to the last analysis, which verdicts use."""
    count = len(runs.figures)
    return runs.first(rule.boundaries_of(count).last_look(count))


def rank(workloads: Sequence[BlockedRuns], weights: Sequence[float], rule: Rule) -> Ranking:
    """Rank configurations by runs that are ``is_rankable``.

    ``weights`` are positive, and only their ratios matter. ``rule`` is that of the verdicts, and
    applies to the baseline's pairs on each workload. The combined order has a further
    risk of the same size.
    """
    # Verdicts use the blocks up to the last analysis.
    analysed = [_analysed(runs, rule) for runs in workloads]
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

    def compare_pair(one: int, other: int) -> tuple[float, float, float]:
        pair, pair_rule = runs.pair(one, other), others if one else rule
        found = compare_runs(pair, higher_is_better=True, rule=pair_rule)
        gate = not one or np.isin(verdicts[0, [one, other]], _DECIDED).any()
        verdict = found.verdict if gate else Verdict.INCONCLUSIVE
        verdicts[other, one] = str(verdict)
        verdicts[one, other] = str(_MIRRORED.get(verdict, verdict))
        return found.estimate, found.interval.low, found.interval.high

    return PairwiseOrder(_estimate_pairs(count, compare_pair), verdicts)


def combine_orders(workloads: Sequence[BlockedRuns], shares: Array, rule: Rule) -> PairwiseOrder:
    """Return the combined order over several workloads, whose ``shares`` sum to 1.

    All pairs have the one level a*.
    """
    count = workloads[0].figures.shape[1]
    pair_rule = replace(rule, comparisons=_pair_count(count) * len(workloads))

    def combine_pair(one: int, other: int) -> tuple[float, float, float]:
        differences = [runs.pair(one, other).differences for runs in workloads]
        return _combine(differences, shares, pair_rule)

    pairs = _estimate_pairs(count, combine_pair)
    verdicts = classify_intervals(pairs.low, pairs.high, rule.min_blocks, rule)
    return PairwiseOrder(pairs, verdicts)


def _combine(differences: Sequence[Array], shares: Array, rule: Rule) -> tuple[float, float, float]:
    """The weighted sum of typical differences, and the ends of its interval."""
    unbiased = replace(rule, bias=0.0)
    values = shares * [estimate(own, rule) for own in differences]
    ends = [
        interval_ends(own[None], rule.repeated_alpha(len(own)), unbiased) for own in differences
    ]
    lows, highs = (shares * [float(own[side][0]) for own in ends] for side in (0, 1))
    with np.errstate(invalid="ignore"):
        value, low, high = (float(each.sum()) for each in (values, lows, highs))
        # Where most runs of a workload failed, its difference is infinite. The sums of the ends
        # then are wider than needed.
        if math.isfinite(value):
            low = value - math.sqrt(((values - lows) ** 2).sum())
            high = value + math.sqrt(((highs - values) ** 2).sum())
    low, high = (-math.inf if math.isnan(low) else low), (math.inf if math.isnan(high) else high)
    return value, low - rule.bias, high + rule.bias


def _estimate_pairs(
    count: int, estimate_pair: Callable[[int, int], tuple[float, float, float]]
) -> IntervalEstimates:
    """Estimates of all pairs: [c, j] of the pair is how much better c is than j."""
    value, low, high = (np.zeros((count, count)) for _ in range(3))
    for own, other in combinations(range(count), 2):
        found = estimate_pair(own, other)
        value[other, own], low[other, own], high[other, own] = found
        value[own, other], low[own, other], high[own, other] = -found[0], -found[2], -found[1]
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
