"""Rank sets of k configurations over W workloads, with intervals of all pairwise differences.

The input is x = s ln y: one array of blocks x configurations for each workload, NaN where a
configuration was not run. The first configuration is the baseline. All estimates are differences
of x, positive where better.

Two configurations are compared within their common blocks, so that shared influences of a block
cancel. On workload w, d_i = x_ic - x_ij has the mean D_w and the variance s_w^2 over n_w common
blocks. The combined difference, with weights that sum to 1, is

    D = sum(w D_w),    V = sum(w^2 s_w^2 / n_w),    D -+ t(1 - a*/2, nu) sqrt(V)

with Satterthwaite's (1946) degrees of freedom nu = V^2 / sum((w^2 s_w^2 / n_w)^2 / (n_w - 1)). The
difference of a configuration from the geometric mean of all k figures is the mean of its
differences from each of them.

`classify_intervals` gives the verdict of each pair: a difference within the margin counts as none.
Rank sets follow from the verdicts of all pairs (Mogstad, Romano, Shaikh & Wilhelm 2023): the rank
of c is at least 1 plus the number of better ones, and at most k minus the number of worse ones.
Equal configurations share all their ranks.

docs/method.md, "Ranking", explains how the pairs share the risk and why early stopping keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.distributions import t_quantile
from iostudy.analysis.verdict import Rule, Verdict, classify_intervals, deciding_bounds

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Words = NDArray[np.str_]

_DECIDED = (str(Verdict.BETTER), str(Verdict.WORSE))


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
        differences = figures[:, :, None] - figures[:, None, :]
        value = np.nanmean(differences, axis=0)
        # The contribution of each block to the error of the mean; 0 for a block without the pair.
        shares = np.nan_to_num((differences - value) / count)
        fewest = count.min(axis=1)
        return cls(
            _Means(value, _variance_of_means(shares, count), count),
            _Means(value.mean(axis=1), _variance_of_means(shares.mean(axis=2), fewest), fewest),
        )


def is_rankable(workloads: Sequence[Array], rule: Rule) -> bool:
    """Whether a ranking adds to the verdicts, and every pair has enough common blocks."""
    several = workloads[0].shape[1] > (2 if len(workloads) == 1 else 1)
    return several and all(
        _common_blocks(figures).min() >= rule.min_blocks for figures in workloads
    )


def _analysed(figures: Array, rule: Rule) -> Array:
    """The blocks up to the last analysis, which verdicts use."""
    return figures[: rule.boundaries.last_look(len(figures))]


def rank(workloads: Sequence[Array], weights: Sequence[float], rule: Rule) -> Ranking:
    """Rank configurations by figures that are ``is_rankable``.

    ``weights`` are positive, and only their ratios matter. ``rule`` is that of the verdicts, and
    applies to the baseline's pairs on each workload. The combined order has a further
    risk of the same size.
    """
    parts = [_WorkloadMeans.from_figures(_analysed(figures, rule)) for figures in workloads]
    shared = replace(rule, comparisons=_pair_count(workloads[0].shape[1]) * len(parts))
    alone = tuple(_order_on_workload(part, len(parts), rule, shared) for part in parts)
    shares = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    combined = alone[0] if len(parts) == 1 else _combined_order(parts, shares, shared)
    return Ranking(combined, alone, _qualitative_interactions([order.verdicts for order in alone]))


def _common_blocks(figures: Array) -> Counts:
    """The number of common blocks of each pair."""
    run = np.isfinite(figures).astype(np.int64)
    return run.T @ run


def _variance_of_means(shares: Array, count: Counts) -> Array:
    """The variance of means, from their centred contributions per block (first axis).

    For a pair it is s^2 / n. For the mean of pairs with unequal numbers of blocks, ``count`` is the
    smallest. The result is then on average no less than the true variance, since the differences
    of one configuration from others are positively correlated.
    """
    return np.asarray((shares**2).sum(axis=0) * count / (count - 1))


def _order_on_workload(
    part: _WorkloadMeans, workloads: int, rule: Rule, shared: Rule
) -> PairwiseOrder:
    """The order on one of several workloads.

    Two configurations other than the baseline get a verdict only where one of them differs from
    the baseline (gatekeeping). The risk of all pairs is then that of the baseline's pairs.
    """
    count = len(part.pairs.value)
    others = replace(rule, comparisons=max(1, _pair_count(count - 1) * workloads))
    with_baseline = np.zeros((count, count), dtype=bool)
    with_baseline[0, :] = with_baseline[:, 0] = True
    own, apart = (_deciding_intervals(part.pairs, each) for each in (rule, others))
    pairs = IntervalEstimates(
        part.pairs.value,
        np.where(with_baseline, own.low, apart.low),
        np.where(with_baseline, own.high, apart.high),
    )
    words = classify_intervals(pairs.low, pairs.high, part.pairs.count, rule)
    decided = np.isin(words[0], _DECIDED)
    is_open = decided[:, None] | decided[None, :] | with_baseline
    verdicts = np.where(is_open, words, str(Verdict.INCONCLUSIVE))
    vs_mean = _intervals([part.vs_mean], np.ones(1), shared)
    return PairwiseOrder(pairs, verdicts, vs_mean)


def _combined_order(parts: Sequence[_WorkloadMeans], shares: Array, rule: Rule) -> PairwiseOrder:
    """The combined order over all workloads."""
    pairs = _intervals([part.pairs for part in parts], shares, rule)
    vs_mean = _intervals([part.vs_mean for part in parts], shares, rule)
    fewest = np.min([part.pairs.count for part in parts], axis=0)
    return PairwiseOrder(pairs, classify_intervals(pairs.low, pairs.high, fewest, rule), vs_mean)


def _deciding_intervals(means: _Means, rule: Rule) -> IntervalEstimates:
    """The intervals of verdicts, for every pair."""
    sd = np.sqrt(means.error * means.count)
    return IntervalEstimates(means.value, *deciding_bounds(means.value, sd, means.count, rule))


def _intervals(means: Sequence[_Means], shares: Array, rule: Rule) -> IntervalEstimates:
    """Weighted sums of the workloads' means, with t intervals at the repeated level."""
    value = np.sum([w * own.value for w, own in zip(shares, means, strict=True)], axis=0)
    errors = [w**2 * own.error for w, own in zip(shares, means, strict=True)]
    variance = np.sum(errors, axis=0)
    lost = np.sum([e**2 / (m.count - 1) for e, m in zip(errors, means, strict=True)], axis=0)
    # Without any spread the interval has no width, whatever the degrees of freedom.
    freedom = np.divide(variance**2, lost, out=np.ones_like(variance), where=lost > 0)
    half = -t_quantile(freedom, rule.repeated_alpha / 2) * np.sqrt(variance) + rule.bias
    return IntervalEstimates(value, value - half, value + half)


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
