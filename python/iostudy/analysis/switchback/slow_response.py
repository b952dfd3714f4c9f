"""Check of a level for a response that is slower than its definition declares.

The curves of a pilot last for three declared time constants. A response that is much slower looks
like a steady rate there, or like a fast response with a larger amplitude. Long stays therefore
measure the late rate y of a level. Let e be the log rate at the beginning of its curves and z the
one at their end. An exponential response of the largest declared time constant has

    y - z = share (y - e),

and a faster one has less. So s = y - z - share (y - e) has the sign of y - e only if the response
is slower, or by chance. A level gets further long stays as long as its s is suspicious, and as the
interval of s of the most stays will be beyond a tolerance if mean and deviation remain what they
are. It is slow if that interval is.

The time of a study limits the most stays. Fewer than four give no deviation of their own. Their
rates, and those of the curves, are then relative to another level, which follows each of them. Slow
noise cancels as it does in the pairs of a study, and the deviation is that of the curves. Such a
check finds large responses only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.distributions import t_quantile
from iostudy.analysis.switchback.response import LOGARITHM_SLOWS
from iostudy.analysis.switchback.window_plan import WindowPlan

Array = NDArray[np.float64]

_SHORTEST_SECONDS, _LONGEST_SECONDS, _CONSTANTS = 6.0, 15.0, 10
"""Length of a long stay: absolute, and in declared time constants."""
_NEAR_SECONDS = 0.5
"""The end of a long stay that is compared with the level that follows."""
_TIME_SHARE = 0.15
"""Share of the time of pilot and windows for the first long stays."""
_MOST_TIME_SHARE = 2 / 3
"""Share of the longest time of the windows for the long stays of all levels but the baseline.

The first stays may take more, and the baseline has as many stays as another level at most.
"""
_MOST_FIRST_STAYS, _MOST_STAYS = 4, 12
_FEWEST_STAYS = 4
"""Fewest long stays that give a deviation of s, and that are projected to the end.

Slow noise is suspicious, and has no end.
"""
_SUSPICIOUS_TOLERANCES, _SUSPICIOUS_ERRORS = 1.5, 1.3
"""The s that makes a level suspicious, in tolerances and in standard errors.

The errors are divided by the number of first stays: a long study has time for more suspicion.
"""
_LEVEL, _RELATIVE_LEVEL = 0.05, 0.02
"""Levels of the nearer end of the interval of s: of its own deviation, and of that of the curves.

A short study of many levels has many checks of one stay each. Any of them can end the windows.
"""


@dataclass(frozen=True)
class StayCounts:
    """Long stays of a level: the first ones in any case, and the most after suspicion."""

    first: int
    most: int


@dataclass(frozen=True)
class LongStay:
    """The rates of a long stay by bin, and those of the curve of the level that follows."""

    rates: Array
    following: Array


@dataclass(frozen=True)
class SlowCheck:
    """The check of one level; all lengths are in bins.

    ``rates`` are the curves x bins of the level, ``following`` those of the level that follows its
    long stays. Curves of the same index are neighbours in time. ``tolerance`` is a log-ratio.
    """

    rates: Array
    following: Array
    bin_seconds: float
    declared_seconds: float
    tolerance: float

    @property
    def share(self) -> float:
        """Part of the slowest declared response at the end of a curve, relative to its start."""
        times = (np.arange(self.rates.shape[1]) + 0.5) * self.bin_seconds
        left = np.exp(-times / (LOGARITHM_SLOWS * self.declared_seconds))
        return float(left[_end(left)].mean() / left[_start(left)].mean())

    def is_slow(
        self, counts: StayCounts, measure: Callable[[], LongStay], known: Sequence[LongStay]
    ) -> bool:
        """Return whether the level responds more slowly than declared.

        ``known`` are long stays without the beginning of their curve.
        """
        measured = [measure() for _ in range(counts.first)]
        errors = _SUSPICIOUS_ERRORS / max(1, counts.first)
        while self._is_suspicious([*known, *measured], errors):
            if len(measured) >= counts.most:
                return self._low_end(known, measured, counts.most) > self.tolerance
            if len(measured) >= _FEWEST_STAYS and not self._may_be_slow(measured, counts.most):
                return False
            measured.append(measure())
        return False

    def _is_suspicious(self, stays: Sequence[LongStay], errors: float) -> bool:
        """Return whether s of the mean of curves and long stays is larger than by chance.

        A long stay varies at most as much as the shorter end of a curve. Its error decides nothing
        but the number of stays, so that correlated curves do no harm.
        """
        late = np.array([_late(own.rates) for own in stays])
        early, end = self._ends(self.rates)
        moved = late.mean() - early.mean()
        change = late.mean() - end.mean() - self.share * moved
        spread = end.std(ddof=1) * math.sqrt(1 / len(end) + 1 / len(late))
        needed = max(_SUSPICIOUS_TOLERANCES * self.tolerance, errors * float(spread))
        return bool(math.copysign(1.0, moved) * change > needed)

    def _may_be_slow(self, stays: Sequence[LongStay], most: int) -> bool:
        """Return whether the level can be slow after all stays: with s a standard error larger.

        Further stays are assumed to have the deviation of these.
        """
        changes = self._changes(stays)
        error = float(changes.std(ddof=1)) / math.sqrt(len(changes))
        return _low_end(changes, most) + error > self.tolerance

    def _low_end(self, known: Sequence[LongStay], measured: Sequence[LongStay], most: int) -> float:
        """Return the nearer end of the interval of s after the last stay."""
        if len(measured) >= _FEWEST_STAYS:
            return _low_end(self._changes(measured), most)
        return self._relative_low_end([*known, *measured])

    def _changes(self, stays: Sequence[LongStay]) -> Array:
        """Return s of each stay in the direction of the response.

        The end of its curve is in the same stay, so noise that is slower does not enter. Stays are
        independent replicates, whatever the autocorrelation within one is.
        """
        late = np.array([_late(own.rates) for own in stays])
        early, end = self._ends(np.stack([own.rates[: self.rates.shape[1]] for own in stays]))
        moved = late - early
        return np.asarray(math.copysign(1.0, moved.mean()) * (late - end - self.share * moved))

    def _relative_low_end(self, stays: Sequence[LongStay]) -> float:
        """Return the nearer end of the interval of s relative to the level that follows.

        The deviation of a long stay is that of a curve: both are pairs of neighbours in time.
        """
        bins = max(1, round(_NEAR_SECONDS / self.bin_seconds))
        late = np.array([_log_mean(own.rates[-bins:]) for own in stays])
        late -= np.array([_log_mean(own.following[_end(own.following)]) for own in stays])
        early, end = self._ends(self.rates) - _log_means(self.following, _end(self.following))
        moved = late.mean() - early.mean()
        change = late.mean() - end.mean() - self.share * moved
        error = end.std(ddof=1) * math.sqrt(1 / len(end) + 1 / len(late))
        quantile = t_quantile(len(end) - 1, _RELATIVE_LEVEL)
        return float(math.copysign(1.0, moved) * change + quantile * error)

    def _ends(self, curves: Array) -> Array:
        """Return the log rates at the start and at the end of curves, 2 x curves."""
        return np.stack([_log_means(curves, part(curves)) for part in (_start, _end)])


def _low_end(changes: Array, most: int) -> float:
    """Return the nearer end of the interval of s after all stays, with s as in these."""
    error = changes.std(ddof=1) / math.sqrt(most)
    return float(changes.mean() + t_quantile(most - 1, _LEVEL) * error)


def _late(stay: Array) -> float:
    return _log_mean(stay[len(stay) // 2 :])


def _start(rates: Array) -> slice:
    """Return the first sixth of the bins."""
    return slice(0, max(1, rates.shape[-1] // 6))


def _end(rates: Array) -> slice:
    """Return the last third of the bins."""
    bins = rates.shape[-1]
    return slice(bins - max(1, bins // 3), bins)


def _log_means(curves: Array, bins: slice) -> Array:
    return np.array([_log_mean(own[bins]) for own in curves])


def _log_mean(rates: Array) -> float:
    """Return the log of the mean; a mean of 0 counts as the smallest number."""
    return math.log(max(float(rates.mean()), np.finfo(float).tiny))


def long_stay_seconds(declared_seconds: float) -> float:
    """Return the length of a long stay of a level; its end gives the late rate."""
    return min(_LONGEST_SECONDS, max(_SHORTEST_SECONDS, _CONSTANTS * declared_seconds))


def count_stays(
    plan: WindowPlan, pilot_seconds: float, stay_seconds: float, longest_seconds: float
) -> StayCounts:
    """Return the long stays of each level.

    ``stay_seconds`` is the time of one long stay of every level, ``longest_seconds`` that of the
    windows of the workload.
    """
    rounds = min(plan.expected_rounds, plan.affordable_rounds)
    planned = pilot_seconds + rounds * plan.round_seconds
    first = min(_MOST_FIRST_STAYS, max(1, round(_TIME_SHARE * planned / stay_seconds)))
    most = int(_MOST_TIME_SHARE * longest_seconds / stay_seconds)
    return StayCounts(first, min(_MOST_STAYS, max(first, most)))
