"""Scaling curves: what more load brings under each configuration, and where curves cross.

Figures come as x = s ln y, an array of levels x rounds x configurations with NaN where a
configuration was not run; s = +1 where higher is better, else -1. A round holds every level once in
random order, so two levels l and m of one configuration pair within it as two configurations of one
block do: d_i = x_im - x_il, with mean G_lm and the t interval of `iostudy.analysis.paired`, at the
level of looks after every block.

With delta = ln(1 + margin), level l *pays* if some later m has G_lm >= delta. Two levels stand for
what people call the knee:

    pays up to:   the first level that does not pay (the last one never does)
    holds up to:  the last level m to which no earlier l has G_lm <= -delta

The first is where throughput saturates; the second how far latencies or run times hold, and where
throughput begins to fall. Each comes as the set of levels that may be it: l is left out of the
first if some interval of G_lm lies above delta, or if for an earlier level all of them lie below;
the second is the same with loads and signs reversed. If all intervals hold, so does every set,
whatever the shape of the curve. docs/method.md, "Curves", says why no other knee is used.

Curves of two configurations cross between two levels where the sign of their difference changes:
*shown* where both levels have a verdict. Between levels, differences and the ends of their
intervals are interpolated linearly in ln load; the crossing lies where the interval holds zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy.analysis.paired import t_bounds
from iostudy.analysis.ranking import Estimates, Order
from iostudy.analysis.verdict import Rule, Verdict, decide

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """One configuration over the levels of load; levels are told by their index.

    ``values`` are the means of x at each level, ``gains`` levels x levels, [l, m] telling how much
    better m is than l. ``pays_up_to`` and ``holds_up_to`` are the levels that may be the one of
    that name, ``peak`` those that none is shown to be better than.
    """

    values: Estimates
    gains: Estimates
    pays_up_to: tuple[int, ...]
    holds_up_to: tuple[int, ...]
    peak: tuple[int, ...]

    @property
    def rises(self) -> bool:
        """Whether more load than the lowest is shown to pay."""
        return 0 not in self.pays_up_to

    @property
    def knee(self) -> tuple[int, ...]:
        """The levels that may be it: up to where a curve that rises pays, and another holds."""
        return self.pays_up_to if self.rises else self.holds_up_to


@dataclass(frozen=True)
class Crossing:
    """``overtaking`` is behind ``overtaken`` at the level ``below``, and ahead of it at ``above``.

    All four are indices. ``load`` is where the curves meet, in the unit of the load, and
    ``interval`` holds it where both levels have their verdict; else it is None, and what is told
    rests on estimates.
    """

    overtaking: int
    overtaken: int
    below: int
    above: int
    load: float
    interval: tuple[float, float] | None


def curves(figures: Array, rule: Rule, count: int = 1) -> tuple[Curve, ...]:
    """A curve for each configuration of levels x rounds x configurations.

    ``count`` is how many such workloads a study has. All values of the study together miss the
    truth with a chance of at most the risk of ``rule``, and so do all gains with what is read
    from them.
    """
    levels, _, configurations = figures.shape
    values = replace(rule, comparisons=levels * configurations * count)
    gains = replace(rule, comparisons=levels * (levels - 1) // 2 * configurations * count)
    return tuple(_curve(figures[:, :, index].T, values, gains) for index in range(configurations))


def _curve(figures: Array, values: Rule, gains: Rule) -> Curve:
    """From rounds x levels."""
    gained = _estimates(figures[:, None, :] - figures[:, :, None], gains)
    return Curve(
        _estimates(figures, values),
        gained,
        pays_up_to=_first_that_does_not_pay(gained.low, gained.high, gains.delta),
        holds_up_to=_last_that_holds(gained.low, gained.high, gains.delta),
        peak=_peak(gained, gains),
    )


def _estimates(samples: Array, rule: Rule) -> Estimates:
    """Means over the first axis with their intervals; these are infinite before the first look."""
    count = np.isfinite(samples).sum(axis=0)
    mean = np.nansum(samples, axis=0) / np.where(count, count, np.nan)
    squares = np.nansum((samples - mean) ** 2, axis=0)
    freedom = np.maximum(count - 1, 1)
    low, high = t_bounds(mean, np.sqrt(squares / freedom), freedom + 1, rule.repeated_alpha)
    known = count >= rule.min_blocks
    return Estimates(mean, np.where(known, low, -np.inf), np.where(known, high, np.inf))


def _first_that_does_not_pay(low: Array, high: Array, delta: float) -> tuple[int, ...]:
    """The levels that may be it, from the ends of the intervals of the gains."""
    found = []
    for level in range(len(low)):
        if not (low[level, level + 1 :] > delta).any():
            found.append(level)
        if (high[level, level + 1 :] < delta).all():
            break
    return tuple(found)


def _last_that_holds(low: Array, high: Array, delta: float) -> tuple[int, ...]:
    """The same question with the order of loads reversed: which lower load would be better?"""
    last = len(low) - 1
    mirrored = _first_that_does_not_pay(low[::-1, ::-1], high[::-1, ::-1], delta)
    return tuple(last - level for level in reversed(mirrored))


def _peak(gained: Estimates, rule: Rule) -> tuple[int, ...]:
    """What is unknown has infinite ends, so that the words need no count of rounds."""
    words = decide(gained.low, gained.high, rule.min_blocks, rule)
    beaten = (words == str(Verdict.WORSE)).any(axis=0)
    return tuple(map(int, np.flatnonzero(~beaten)))


def crossings(loads: Sequence[float], orders: Sequence[Order]) -> tuple[Crossing, ...]:
    """Where the curves of any two configurations cross; ``orders`` are those at each load.

    What is shown has the risk of the verdicts: it takes a wrong one to tell of a crossing that is
    not there. A pair without one is told of where one level has a verdict, and an estimate at
    another contradicts it.
    """
    pairs = combinations(range(len(orders[0].verdicts)), 2) if orders else ()
    return tuple(found for pair in pairs for found in _crossings_of(pair, np.log(loads), orders))


def _crossings_of(
    pair: tuple[int, int], log_loads: Array, orders: Sequence[Order]
) -> list[Crossing]:
    words = [Verdict(str(order.verdicts[pair])) for order in orders]
    value, low, high = (
        np.array([getattr(order.pairs, name)[pair] for order in orders])
        for name in ("value", "low", "high")
    )
    decided = [_sign(word) for word in words]
    shown = [_crossing(pair, ends, log_loads, value, (low, high)) for ends in _changes(decided)]
    if shown:
        return shown
    guessed = [
        int(np.sign(own)) if word is Verdict.INCONCLUSIVE else sign
        for own, word, sign in zip(value, words, decided, strict=True)
    ]
    return [
        _crossing(pair, (below, above), log_loads, value, None)
        for below, above in _changes(guessed)
        if decided[below] or decided[above]
    ]


def estimated_crossings(loads: Sequence[float], figures: ArrayLike) -> tuple[Crossing, ...]:
    """Where estimates of levels x configurations cross, with nothing known of their errors."""
    x, log_loads = np.asarray(figures, dtype=np.float64), np.log(loads)
    return tuple(
        _crossing(pair, ends, log_loads, difference, None)
        for pair in combinations(range(x.shape[1]), 2)
        for difference in [x[:, pair[0]] - x[:, pair[1]]]
        for ends in _changes([int(sign) for sign in np.sign(difference)])
    )


def _sign(word: Verdict) -> int:
    return {Verdict.BETTER: 1, Verdict.WORSE: -1}.get(word, 0)


def _changes(signs: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The levels between which a sign changes; zeros are passed over."""
    known = [level for level, sign in enumerate(signs) if sign]
    return ((low, high) for low, high in pairwise(known) if signs[low] != signs[high])


def _crossing(
    pair: tuple[int, int],
    ends: tuple[int, int],
    log_loads: Array,
    value: Array,
    bounds: tuple[Array, Array] | None,
) -> Crossing:
    """``value`` and ``bounds`` tell how much better the first of the pair is than the second."""
    below, above = ends
    falls = value[below] > value[above]
    overtaken, overtaking = pair if falls else pair[::-1]
    within = slice(below, above + 1)
    at = log_loads[within]
    interval = None
    if bounds is not None:
        first, last = bounds if falls else bounds[::-1]
        interval = (_zeros(at, first[within])[0], _zeros(at, last[within])[-1])
    return Crossing(overtaking, overtaken, below, above, _zeros(at, value[within])[0], interval)


def _zeros(log_loads: Array, differences: Array) -> list[float]:
    """The loads at which differences, interpolated in ln load, change their sign."""
    points = pairwise(zip(log_loads, differences, strict=True))
    return [
        float(np.exp(x + (next_x - x) * y / (y - next_y)))
        for (x, y), (next_x, next_y) in points
        if y * next_y < 0 or (next_y == 0 != y)
    ]
