"""Ranking k configurations over W workloads: which may be the best, and which rank each may have.

Figures come as x = s ln y, one array of blocks x configurations for each workload, with NaN where
a configuration was not run (any more); the first configuration is the baseline. All estimates are
differences of x, positive where better.

Two configurations are compared within the blocks that both have run, so that what the trials of a
block have in common cancels. On workload w, d_i = x_ic - x_ij has the mean D_w and the variance
s_w^2 over their n_w common blocks. The combined difference, with weights that sum to 1, is

    D = sum(w D_w),    V = sum(w^2 s_w^2 / n_w),    D -+ t(1 - a*/2, nu) sqrt(V)

with Satterthwaite's (1946) degrees of freedom nu = V^2 / sum((w^2 s_w^2 / n_w)^2 / (n_w - 1)). The
difference of a configuration from the mean of all k, which is the geometric mean of the figures, is
the mean of its differences from each of them.

Of each pair the verdict is read (`decide`): a difference within the margin is none. Ranks follow
from the verdicts of all pairs, as Mogstad, Romano, Shaikh & Wilhelm (2023) have it: c has at least
as many before it as are better, and at most as many as are not worse. Equals share all their ranks.

How the risk is shared, and why it is kept although studies stop at their verdicts, is in
docs/method.md, "Ranking".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from iostudy.analysis.verdict import Rule, Verdict, decide

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Words = NDArray[np.str_]

_APART = (str(Verdict.BETTER), str(Verdict.WORSE))


@dataclass(frozen=True)
class Estimates:
    """Log-ratios with the ends of their intervals: arrays of one shape."""

    value: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class RankSet:
    """The ranks that a configuration may have, counted from 1; both ends belong to it."""

    best: int
    worst: int


@dataclass(frozen=True)
class Order:
    """How k configurations stand to each other, on one workload or on several together.

    ``pairs`` is k x k, [c, j] telling how much better c is than j, and ``verdicts`` has the words
    for that; ``from_mean`` tells how much better each is than the geometric mean of all.
    """

    pairs: Estimates
    verdicts: Words
    from_mean: Estimates

    @property
    def ranks(self) -> tuple[RankSet, ...]:
        """For each: 1 + those that are better, to k - those that are worse."""
        better, worse = ((self.verdicts == word).sum(axis=1) for word in _APART)
        count = len(self.verdicts)
        return tuple(
            RankSet(1 + int(before), count - int(behind))
            for before, behind in zip(worse, better, strict=True)
        )

    @property
    def best(self) -> tuple[int, ...]:
        """The set of best: those that nobody is shown to be better than."""
        return tuple(index for index, ranks in enumerate(self.ranks) if ranks.best == 1)


@dataclass(frozen=True)
class Crossing:
    """A pair whose order depends on the workload; ``better`` and ``worse`` are those, by index.

    On the former ``first`` is better than ``second``, on the latter worse.
    """

    first: int
    second: int
    better: tuple[int, ...]
    worse: tuple[int, ...]


@dataclass(frozen=True)
class Ranking:
    """The combined order, that on each workload, and the pairs that change places."""

    combined: Order
    alone: tuple[Order, ...]
    crossings: tuple[Crossing, ...]

    @property
    def has_single_order(self) -> bool:
        """False where a workload asks for another choice than one of the best of all together."""
        best = set(self.combined.best)
        return not any(best & {crossing.first, crossing.second} for crossing in self.crossings)


@dataclass(frozen=True)
class _Means:
    """Means over blocks: ``error`` is the variance of each, ``count`` how many blocks it is of."""

    value: Array
    error: Array
    count: Counts


@dataclass(frozen=True)
class _Part:
    """What one workload has to say of all pairs, and of each configuration against the mean."""

    pairs: _Means
    from_mean: _Means

    @classmethod
    def of(cls, figures: Array) -> _Part:
        """From blocks x configurations."""
        count = _common(figures)
        differences = figures[:, :, None] - figures[:, None, :]
        value = np.nanmean(differences, axis=0)
        # What each block adds to the error of the mean; one that a pair lacks adds nothing.
        shares = np.nan_to_num((differences - value) / count)
        fewest = count.min(axis=1)
        return cls(
            _Means(value, _error(shares, count), count),
            _Means(value.mean(axis=1), _error(shares.mean(axis=2), fewest), fewest),
        )


def is_rankable(workloads: Sequence[Array], rule: Rule) -> bool:
    """Whether there is an order that no verdict tells, and enough common blocks for it."""
    several = workloads[0].shape[1] > (2 if len(workloads) == 1 else 1)
    return several and all(_common(figures).min() >= rule.min_blocks for figures in workloads)


def rank(workloads: Sequence[Array], weights: Sequence[float], rule: Rule) -> Ranking:
    """The ranking of figures that are ``is_rankable``.

    ``weights`` are above 0, and only their ratios matter. ``rule`` is that of the verdicts, which
    tell the baseline's pairs on each workload; all workloads together have its risk once more.
    """
    parts = [_Part.of(figures) for figures in workloads]
    shared = replace(rule, comparisons=_pairs(workloads[0].shape[1]) * len(parts))
    alone = tuple(_alone(part, len(parts), rule, shared) for part in parts)
    shares = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    combined = alone[0] if len(parts) == 1 else _together(parts, shares, shared)
    return Ranking(combined, alone, _crossings([order.verdicts for order in alone]))


def _common(figures: Array) -> Counts:
    """How many blocks each pair has in common."""
    run = np.isfinite(figures).astype(np.int64)
    return run.T @ run


def _error(shares: Array, count: Counts) -> Array:
    """The variance of sums over the first axis, that of blocks, each sum with a mean of 0.

    For a pair it is s^2 / n. For the mean of pairs with unequal numbers of blocks, of which
    ``count`` is the fewest, it is on average no less than the true one, since the differences of
    one configuration from others are positively correlated.
    """
    return np.asarray((shares**2).sum(axis=0) * count / (count - 1))


def _alone(part: _Part, workloads: int, rule: Rule, shared: Rule) -> Order:
    """The order on one of several workloads.

    Two that are not the baseline are told apart only where one of them is told apart from it: with
    this gate the risk of all pairs is that of the baseline's.
    """
    count = len(part.pairs.value)
    others = replace(rule, comparisons=max(1, _pairs(count - 1) * workloads))
    levels = np.full((count, count), others.repeated_alpha)
    levels[0, :] = levels[:, 0] = rule.repeated_alpha
    pairs = _intervals([part.pairs], np.ones(1), levels)
    words = decide(pairs.low, pairs.high, part.pairs.count, rule)
    apart = np.isin(words[0], _APART)
    is_open = apart[:, None] | apart[None, :]
    is_open[0, :] = is_open[:, 0] = True
    verdicts = np.where(is_open, words, str(Verdict.INCONCLUSIVE))
    from_mean = _intervals([part.from_mean], np.ones(1), shared.repeated_alpha)
    return Order(pairs, verdicts, from_mean)


def _together(parts: Sequence[_Part], shares: Array, rule: Rule) -> Order:
    """The order on all workloads together."""
    pairs = _intervals([part.pairs for part in parts], shares, rule.repeated_alpha)
    from_mean = _intervals([part.from_mean for part in parts], shares, rule.repeated_alpha)
    fewest = np.min([part.pairs.count for part in parts], axis=0)
    return Order(pairs, decide(pairs.low, pairs.high, fewest, rule), from_mean)


def _intervals(means: Sequence[_Means], shares: Array, alpha: float | Array) -> Estimates:
    """Weighted sums of the means of workloads, with t intervals of level ``alpha``."""
    value = np.sum([w * own.value for w, own in zip(shares, means, strict=True)], axis=0)
    errors = [w**2 * own.error for w, own in zip(shares, means, strict=True)]
    variance = np.sum(errors, axis=0)
    lost = np.sum([e**2 / (m.count - 1) for e, m in zip(errors, means, strict=True)], axis=0)
    # Without any spread the interval has no width, whatever the degrees of freedom.
    freedom = np.divide(variance**2, lost, out=np.ones_like(variance), where=lost > 0)
    half = -special.stdtrit(freedom, np.asarray(alpha) / 2) * np.sqrt(variance)
    return Estimates(value, value - half, value + half)


def _crossings(verdicts: Sequence[Words]) -> tuple[Crossing, ...]:
    """The pairs with a verdict of better on one workload, and of worse on another.

    This is the range test for qualitative interaction (Piantadosi & Gail 1993), with the critical
    values of the verdicts.
    """
    better, worse = (np.array(verdicts) == word for word in _APART)
    crossed = np.argwhere(np.triu(better.any(axis=0) & worse.any(axis=0)))
    return tuple(
        Crossing(int(c), int(j), _where(better[:, c, j]), _where(worse[:, c, j]))
        for c, j in crossed
    )


def _where(true: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(map(int, np.flatnonzero(true)))


def _pairs(count: int) -> int:
    return count * (count - 1) // 2
