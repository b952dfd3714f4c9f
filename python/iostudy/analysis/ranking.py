"""Rank sets of k configurations over W workloads, with intervals of all pairwise differences.

The input is x = s ln y: one array of blocks x configurations for each workload, NaN where a
configuration was not run, -inf where it failed. The first configuration is the baseline. All
estimates are differences of x, positive where better.

Two configurations are compared within their common blocks, so that shared influences of a block
cancel. On one workload each pair is a comparison of `iostudy.analysis.verdict`. For all workloads
together, d_i = x_ic - x_ij has the mean D_w and the variance s_w^2 over the n_w common blocks of
workload w. The combined difference, with weights that sum to 1, is

    D = sum(w D_w),    V = sum(w^2 s_w^2 / n_w),    D -+ t(1 - a*/2, nu) sqrt(V)

with Satterthwaite's (1946) degrees of freedom nu = V^2 / sum((w^2 s_w^2 / n_w)^2 / (n_w - 1)). The
difference of a configuration from the geometric mean of all k figures is the mean of its
differences from each of them.

A difference within the margin counts as none. Rank sets follow from the verdicts of all pairs
(Mogstad, Romano, Shaikh & Wilhelm 2023): the rank of c is at least 1 plus the number of better
ones, and at most k minus the number of worse ones. Equal configurations share all their ranks.

docs/method.md, "Ranking", explains how the pairs share the risk and why early stopping keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.distributions import t_quantile
from iostudy.analysis.verdict import (
    PairedRuns,
    Rule,
    Verdict,
    classify_intervals,
    compare_runs,
)

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
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
        """Return the runs of two configurations in their common blocks."""
        x, y = self.figures[:, baseline], self.figures[:, other]
        common = ~(np.isnan(x) | np.isnan(y)) & ~(np.isneginf(x) & np.isneginf(y))
        after = None
        if self.positions is not None:
            after = self.positions[common, other] > self.positions[common, baseline]
        return PairedRuns(x[common], y[common], after)


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
    verdicts. ``vs_mean`` is how much better each is than the geometric mean of all.
    """

    pairs: IntervalEstimates
    verdicts: Words
    vs_mean: IntervalEstimates

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


@dataclass(frozen=True)
class _Means:
    """Means over blocks: ``error`` is the variance of each mean, ``count`` its blocks."""

    value: Array
    error: Array
    count: Counts


@dataclass(frozen=True)
class _WorkloadMeans:
    """The means of one workload: of all pairs, and of each configuration vs the mean of all."""

    pairs: _Means
    vs_mean: _Means

    @classmethod
    def from_figures(cls, figures: Array) -> _WorkloadMeans:
        """Compute the means from blocks x configurations."""
        count = _common_blocks(figures)
        # A mean with a failed run is unknown.
        lost = np.isneginf(figures).any(axis=0)
        figures = np.where(np.isneginf(figures), 0.0, figures)
        differences = figures[:, :, None] - figures[:, None, :]
        value = np.nanmean(differences, axis=0)
        value[lost] = value[:, lost] = np.nan
        # The contribution of each block to the error of the mean; 0 for a block without the pair.
        shares = np.nan_to_num((differences - value) / count)
        fewest = count.min(axis=1)
        return cls(
            _Means(value, _variance_of_means(shares, count), count),
            _Means(value.mean(axis=1), _variance_of_means(shares.mean(axis=2), fewest), fewest),
        )


def is_rankable(workloads: Sequence[BlockedRuns], rule: Rule) -> bool:
    """Whether a ranking adds to the verdicts, and every pair has enough common blocks."""
    several = workloads[0].figures.shape[1] > (2 if len(workloads) == 1 else 1)
    return several and all(
        _common_blocks(runs.figures).min() >= rule.min_blocks for runs in workloads
    )


def _analysed(runs: BlockedRuns, rule: Rule) -> BlockedRuns:
    """The blocks up to the last analysis, which verdicts use."""
    last = rule.boundaries.last_look(len(runs.figures))
    positions = None if runs.positions is None else runs.positions[:last]
    return BlockedRuns(runs.figures[:last], positions)


def rank(workloads: Sequence[BlockedRuns], weights: Sequence[float], rule: Rule) -> Ranking:
    """Rank configurations by runs that are ``is_rankable``.

    ``weights`` are positive, and only their ratios matter. ``rule`` is that of the verdicts, and
    applies to the baseline's pairs on each workload. The combined order has a further
    risk of the same size.
    """
    analysed = [_analysed(runs, rule) for runs in workloads]
    parts = [_WorkloadMeans.from_figures(runs.figures) for runs in analysed]
    shared = replace(rule, comparisons=_pair_count(len(parts[0].vs_mean.value)) * len(parts))
    alone = tuple(
        _order_on_workload(runs, part, len(parts), rule, shared)
        for runs, part in zip(analysed, parts, strict=True)
    )
    shares = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    combined = alone[0] if len(parts) == 1 else _combined_order(parts, shares, shared)
    return Ranking(combined, alone, _qualitative_interactions([order.verdicts for order in alone]))


def _common_blocks(figures: Array) -> Counts:
    """The number of common blocks of each pair."""
    run = (~np.isnan(figures)).astype(np.int64)
    return run.T @ run


def _variance_of_means(shares: Array, count: Counts) -> Array:
    """The variance of means, from their centred contributions per block (first axis).

    For a pair it is s^2 / n. For the mean of pairs with unequal numbers of blocks, ``count`` is the
    smallest. The result is then on average no less than the true variance, since the differences
    of one configuration from others are positively correlated.
    """
    return np.asarray((shares**2).sum(axis=0) * count / (count - 1))


def _order_on_workload(
    runs: BlockedRuns, part: _WorkloadMeans, workloads: int, rule: Rule, shared: Rule
) -> PairwiseOrder:
    """The order on one of several workloads.

    Two configurations other than the baseline get a verdict only where one of them differs from
    the baseline (gatekeeping). The risk of all pairs is then that of the baseline's pairs.
    """
    count = runs.figures.shape[1]
    others = replace(rule, comparisons=max(1, _pair_count(count - 1) * workloads))
    value, low, high = (np.zeros((count, count)) for _ in range(3))
    verdicts = np.full((count, count), str(Verdict.INCONCLUSIVE), dtype="<U12")
    for own, other in combinations(range(count), 2):
        found = compare_runs(
            runs.pair(own, other), higher_is_better=True, rule=others if own else rule
        )
        value[other, own], value[own, other] = found.estimate, -found.estimate
        low[other, own], high[other, own] = found.interval.low, found.interval.high
        low[own, other], high[own, other] = -found.interval.high, -found.interval.low
        decided = np.isin(verdicts[0], _DECIDED)
        if own == 0 or decided[own] or decided[other]:
            verdicts[other, own] = str(found.verdict)
            verdicts[own, other] = str(_MIRRORED.get(found.verdict, found.verdict))
    np.fill_diagonal(verdicts, str(Verdict.EQUIVALENT))
    vs_mean = _intervals([part.vs_mean], np.ones(1), shared)
    return PairwiseOrder(IntervalEstimates(value, low, high), verdicts, vs_mean)


def _combined_order(parts: Sequence[_WorkloadMeans], shares: Array, rule: Rule) -> PairwiseOrder:
    """The combined order over all workloads."""
    pairs = _intervals([part.pairs for part in parts], shares, rule)
    vs_mean = _intervals([part.vs_mean for part in parts], shares, rule)
    fewest = np.min([part.pairs.count for part in parts], axis=0)
    return PairwiseOrder(pairs, classify_intervals(pairs.low, pairs.high, fewest, rule), vs_mean)


def _intervals(means: Sequence[_Means], shares: Array, rule: Rule) -> IntervalEstimates:
    """Weighted sums of the workloads' means, with t intervals at the repeated level."""
    value = np.sum([w * own.value for w, own in zip(shares, means, strict=True)], axis=0)
    errors = [w**2 * own.error for w, own in zip(shares, means, strict=True)]
    variance = np.sum(errors, axis=0)
    lost = np.sum([e**2 / (m.count - 1) for e, m in zip(errors, means, strict=True)], axis=0)
    # Without any spread the interval has no width, whatever the degrees of freedom.
    freedom = np.divide(variance**2, lost, out=np.ones_like(variance), where=lost > 0)
    half = -t_quantile(freedom, rule.repeated_alpha / 2) * np.sqrt(variance) + rule.bias
    known = np.isfinite(value)
    return IntervalEstimates(
        value, np.where(known, value - half, -np.inf), np.where(known, value + half, np.inf)
    )


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
