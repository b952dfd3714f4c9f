"""Scaling curves over load: gains between levels, saturation, stability and crossings.

The input is x = s ln y, an array of levels x rounds x configurations, NaN where a configuration
was not run; s = +1 where higher is better, else -1. A round contains every level once in random
order. Two levels l and m of a configuration are therefore paired within a round:
d_i = x_im - x_il, with mean G_lm and the t interval of `iostudy.analysis.paired` at the level a*.

With delta = ln(1 + margin), level l *gains* if some later m has G_lm >= delta. Two levels describe
the knee:

    saturates at:  the first level that does not gain (the last one never does)
    stable up to:  the last level m for which no earlier l has G_lm <= -delta

The first is where throughput saturates. The second is the last load with unchanged latency or run
time, or with throughput that does not fall. Each is given as a set of possible levels. Level l is
excluded from the first set if some interval of G_lm lies above delta, or if all intervals of an
earlier level lie below delta. The second is the same with loads and signs reversed. If all
intervals hold, so does every set, for any shape of the curve. docs/method/curves.md compares
other definitions of the knee.

Curves of two configurations cross between two levels where the sign of their difference changes.
The crossing is *shown* where both levels have a verdict. Between levels, differences and the ends
of their intervals are interpolated linearly in ln load. The crossing lies where the interval
contains zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike

from iostudy.analysis.distributions import Array
from iostudy.analysis.paired import t_bounds
from iostudy.analysis.ranking import IntervalEstimates, PairwiseOrder
from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import Verdict, classify_intervals


@dataclass(frozen=True)
class CurveEstimate:
    """The estimated curve of one configuration; levels are given by index.

    ``values`` are the means of x at each level. ``gains`` is levels x levels: [l, m] is how much
    better m is than l. ``saturates_at`` and ``stable_up_to`` are sets of possible levels. ``peak``
    are the levels that no other is shown to be better than.
    """

    values: IntervalEstimates
    gains: IntervalEstimates
    saturates_at: tuple[int, ...]
    stable_up_to: tuple[int, ...]
    peak: tuple[int, ...]

    @property
    def rises(self) -> bool:
        """Whether a load above the lowest is shown to gain."""
        return 0 not in self.saturates_at

    @property
    def knee(self) -> tuple[int, ...]:
        """The possible knees: saturation of a rising curve, otherwise the end of stability."""
        return self.saturates_at if self.rises else self.stable_up_to


@dataclass(frozen=True)
class CrossingEstimate:
    """A crossing: ``overtaking`` is worse than ``overtaken`` at ``below`` and better at ``above``.

    All four are indexes. ``load`` is where the curves meet, in the unit of the load. ``interval``
    contains it where both levels have a verdict; otherwise it is None, and the crossing depends on
    estimates.
    """

    overtaking: int
    overtaken: int
    below: int
    above: int
    load: float
    interval: tuple[float, float] | None


def estimate_curves(figures: Array, rule: Rule, count: int = 1) -> tuple[CurveEstimate, ...]:
    """Estimate a curve for each configuration of levels x rounds x configurations.

    ``count`` is the number of such workloads in the study. The familywise error rate of all values
    of the study is at most the risk of ``rule``; the same holds for all gains and for the sets that
    follow from them.
    """
    levels, _, configurations = figures.shape
    values = replace(rule, comparisons=levels * configurations * count)
    gains = replace(rule, comparisons=levels * (levels - 1) // 2 * configurations * count)
    return tuple(_curve(figures[:, :, index].T, values, gains) for index in range(configurations))


def _curve(figures: Array, values: Rule, gains: Rule) -> CurveEstimate:
    """Estimate a curve from rounds x levels."""
    gained = _estimates(figures[:, None, :] - figures[:, :, None], gains)
    # Unknown intervals have infinite ends, so that no verdict follows from them.
    words = classify_intervals(gained.low, gained.high, gains.min_blocks, gains)
    beaten = (words == str(Verdict.WORSE)).any(axis=0)
    return CurveEstimate(
        _estimates(figures, values),
        gained,
        saturates_at=_saturation_levels(gained.low, gained.high, gains.delta),
        stable_up_to=_stability_levels(gained.low, gained.high, gains.delta),
        peak=tuple(map(int, np.flatnonzero(~beaten))),
    )


def _estimates(samples: Array, rule: Rule) -> IntervalEstimates:
    """Means over the first axis with intervals, infinite before the first interim analysis."""
    count = np.isfinite(samples).sum(axis=0)
    mean = np.nansum(samples, axis=0) / np.where(count, count, np.nan)
    squares = np.nansum((samples - mean) ** 2, axis=0)
    freedom = np.maximum(count - 1, 1)
    level = rule.repeated_alpha(int(count.max()))
    low, high = t_bounds(mean, np.sqrt(squares / freedom), freedom + 1, level)
    known = count >= rule.min_blocks
    return IntervalEstimates(mean, np.where(known, low, -np.inf), np.where(known, high, np.inf))


def _saturation_levels(low: Array, high: Array, delta: float) -> tuple[int, ...]:
    """The possible levels of saturation, from the ends of the intervals of the gains."""
    levels = []
    for level in range(len(low)):
        if not (low[level, level + 1 :] > delta).any():
            levels.append(level)
        if (high[level, level + 1 :] < delta).all():
            break
    return tuple(levels)


def _stability_levels(low: Array, high: Array, delta: float) -> tuple[int, ...]:
    """The possible last stable levels: saturation with the order of loads reversed."""
    last = len(low) - 1
    mirrored = _saturation_levels(low[::-1, ::-1], high[::-1, ::-1], delta)
    return tuple(last - level for level in reversed(mirrored))


def find_crossings(
    loads: Sequence[float], orders: Sequence[PairwiseOrder]
) -> tuple[CrossingEstimate, ...]:
    """Find where the curves of any two configurations cross; ``orders`` are those at each load.

    A shown crossing has the risk of the verdicts: only a wrong verdict can give a false one. For a
    pair without a shown crossing, an estimate that contradicts the verdict of another level gives
    an estimated one.
    """
    pairs = combinations(range(len(orders[0].verdicts)), 2) if orders else ()
    return tuple(
        crossing for pair in pairs for crossing in _crossings_of_pair(pair, np.log(loads), orders)
    )


def _crossings_of_pair(
    pair: tuple[int, int], log_loads: Array, orders: Sequence[PairwiseOrder]
) -> list[CrossingEstimate]:
    words = [Verdict(str(order.verdicts[pair])) for order in orders]
    value, low, high = (
        np.array([getattr(order.pairs, name)[pair] for order in orders])
        for name in ("value", "low", "high")
    )
    decided = [{Verdict.BETTER: 1, Verdict.WORSE: -1}.get(word, 0) for word in words]
    shown = [
        _crossing(pair, ends, log_loads, value, (low, high)) for ends in _sign_changes(decided)
    ]
    if shown:
        return shown
    guessed = [
        int(np.sign(number)) if word is Verdict.INCONCLUSIVE else sign
        for number, word, sign in zip(value, words, decided, strict=True)
    ]
    return [
        _crossing(pair, (below, above), log_loads, value, None)
        for below, above in _sign_changes(guessed)
        if decided[below] or decided[above]
    ]


def find_estimated_crossings(
    loads: Sequence[float], figures: ArrayLike
) -> tuple[CrossingEstimate, ...]:
    """Find where estimates of levels x configurations cross, without known errors."""
    x, log_loads = np.asarray(figures, dtype=np.float64), np.log(loads)
    return tuple(
        _crossing(pair, ends, log_loads, difference, None)
        for pair in combinations(range(x.shape[1]), 2)
        for difference in [x[:, pair[0]] - x[:, pair[1]]]
        for ends in _sign_changes([int(sign) for sign in np.sign(difference)])
    )


def _sign_changes(signs: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The levels between which a sign changes; zeros are ignored."""
    decided = [level for level, sign in enumerate(signs) if sign]
    return ((low, high) for low, high in pairwise(decided) if signs[low] != signs[high])


def _crossing(
    pair: tuple[int, int],
    ends: tuple[int, int],
    log_loads: Array,
    value: Array,
    bounds: tuple[Array, Array] | None,
) -> CrossingEstimate:
    """Interpolate a crossing; ``value`` and ``bounds`` compare the first with the second."""
    below, above = ends
    falls = value[below] > value[above]
    overtaken, overtaking = pair if falls else pair[::-1]
    within = slice(below, above + 1)
    at = log_loads[within]
    interval = None
    if bounds is not None:
        first, last = bounds if falls else bounds[::-1]
        interval = (_zeros(at, first[within])[0], _zeros(at, last[within])[-1])
    return CrossingEstimate(
        overtaking, overtaken, below, above, _zeros(at, value[within])[0], interval
    )


def _zeros(log_loads: Array, differences: Array) -> list[float]:
    """The loads at which differences, interpolated in ln load, change sign."""
    points = pairwise(zip(log_loads, differences, strict=True))
    return [
        float(np.exp(x + (next_x - x) * y / (y - next_y)))
        for (x, y), (next_x, next_y) in points
        if y * next_y < 0 or (next_y == 0 != y)
    ]
