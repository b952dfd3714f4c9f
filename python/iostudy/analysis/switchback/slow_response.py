"""Check of a level for a response that is slower than its definition declares.

The curves of a pilot last for three declared time constants. A response that is much slower looks
like a steady rate there, or like a fast response with a larger amplitude. Long stays therefore
measure the late rate y of a level. Let e be the log rate at the beginning of its curves and z the
one at their end. An exponential response of the largest declared time constant has

    y - z = share (y - e),

and a faster one has less. So s = y - z - share (y - e) has the sign of y - e only if the response
is slower, or by chance. A level gets further long stays as long as its s is suspicious, and as the
interval of s of twelve stays will be beyond a tolerance if mean and deviation remain what they are.
It is slow if that interval is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.distributions import t_quantile
from iostudy.analysis.switchback.response import LOGARITHM_SLOWS
from iostudy.analysis.switchback.window_plan import FIRST_LOOK, WindowPlan

Array = NDArray[np.float64]

_SHORTEST_SECONDS, _LONGEST_SECONDS, _CONSTANTS = 6.0, 15.0, 10
"""Length of a long stay: absolute, and in declared time constants."""
_TIME_SHARE = 0.15
"""Share of the time of pilot and windows for the first long stays."""
_MOST_FIRST_STAYS, MOST_STAYS = 4, 12
_FEWEST_PROJECTED = 4
"""Fewest long stays whose s is projected to the end. Slow noise is suspicious, and has no end."""
_SUSPICIOUS_TOLERANCES, _SUSPICIOUS_ERRORS = 1.5, 1.3
"""The s that makes a level suspicious, in tolerances and in standard errors.

The errors are divided by the number of first stays: a long study has time for more suspicion.
"""
_LEVEL = 0.05
"""Level of the nearer end of the interval of s."""


@dataclass(frozen=True)
class SlowCheck:
    """The check of one level; all lengths are in bins.

    ``rates`` are the curves x bins of the pilot. ``tolerance`` is a log-ratio.
    """

    rates: Array
    bin_seconds: float
    declared_seconds: float
    tolerance: float

    @property
    def share(self) -> float:
        """Part of the slowest declared response at the end of a curve, relative to its start."""
        times = (np.arange(self.rates.shape[1]) + 0.5) * self.bin_seconds
        left = np.exp(-times / (LOGARITHM_SLOWS * self.declared_seconds))
        return float(left[self._reference].mean() / left[self._early].mean())

    def is_slow(self, stays: int, measure: Callable[[], Array], steady: Sequence[Array]) -> bool:
        """Return whether the level responds more slowly than declared.

        ``measure`` returns the rates of a long stay by bin. ``stays`` are measured in any case.
        ``steady`` are rates of the level long after a switch, if they are known.
        """
        measured, errors = [measure() for _ in range(stays)], _SUSPICIOUS_ERRORS / max(1, stays)
        while self._is_suspicious([*steady, *measured], errors):
            if len(measured) >= MOST_STAYS:
                return self._low_end(measured) > self.tolerance
            if len(measured) >= _FEWEST_PROJECTED and not self._may_be_slow(measured):
                return False
            measured.append(measure())
        return False

    def _is_suspicious(self, stays: Sequence[Array], errors: float) -> bool:
        """Return whether s of the mean of curves and long stays is larger than by chance.

        A long stay varies at most as much as the shorter end of a curve. Its error decides nothing
        but the number of stays, so that correlated curves do no harm.
        """
        late = np.array([_late(own) for own in stays])
        early, reference = self._ends(self.rates)
        moved = late.mean() - early.mean()
        change = late.mean() - reference.mean() - self.share * moved
        spread = reference.std(ddof=1) * math.sqrt(1 / len(reference) + 1 / len(late))
        needed = max(_SUSPICIOUS_TOLERANCES * self.tolerance, errors * float(spread))
        return bool(math.copysign(1.0, moved) * change > needed)

    def _may_be_slow(self, stays: Sequence[Array]) -> bool:
        """Return whether the level can be slow after all stays: with s a standard error larger.

        Further stays are assumed to have the deviation of these.
        """
        changes = self._changes(stays)
        error = float(changes.std(ddof=1)) / math.sqrt(len(changes))
        return self._low_end(stays) + error > self.tolerance

    def _low_end(self, stays: Sequence[Array]) -> float:
        """Return the nearer end of the interval of s after all stays, with s as in these."""
        changes = self._changes(stays)
        error = changes.std(ddof=1) / math.sqrt(MOST_STAYS)
        return float(changes.mean() + t_quantile(MOST_STAYS - 1, _LEVEL) * error)

    def _changes(self, stays: Sequence[Array]) -> Array:
        """Return s of each stay in the direction of the response.

        The reference is in the same stay, so noise that is slower does not enter. Stays are
        independent replicates, whatever the autocorrelation within one is.
        """
        late = np.array([_late(own) for own in stays])
        early, reference = self._ends(np.stack([own[: self.rates.shape[1]] for own in stays]))
        moved = late - early
        return np.asarray(
            math.copysign(1.0, moved.mean()) * (late - reference - self.share * moved)
        )

    def _ends(self, rates: Array) -> tuple[Array, Array]:
        """Return the log rates at the start and at the end of a curve, also of longer ones."""
        return _log_mean(rates[:, self._early]), _log_mean(rates[:, self._reference])

    @property
    def _early(self) -> slice:
        return slice(0, max(1, self.rates.shape[1] // 6))

    @property
    def _reference(self) -> slice:
        bins = self.rates.shape[1]
        return slice(bins - max(1, bins // 3), bins)


def _late(stay: Array) -> float:
    return float(_log_mean(stay[len(stay) // 2 :][np.newaxis])[0])


def _log_mean(rates: Array) -> Array:
    """Return the logs of the means of rows; a mean of 0 counts as the smallest number."""
    return np.asarray(np.log(np.maximum(rates.mean(axis=1), np.finfo(float).tiny)))


def long_stay_seconds(declared_seconds: float) -> float:
    """Return the length of a long stay of a level; its later half gives the late rate."""
    return min(_LONGEST_SECONDS, max(_SHORTEST_SECONDS, _CONSTANTS * declared_seconds))


def count_first_stays(plan: WindowPlan, pilot_seconds: float, stay_seconds: float) -> int:
    """Return the long stays of each level before any suspicion.

    ``stay_seconds`` is the time of one long stay of every level.
    """
    rounds = min(max(plan.needed_rounds, FIRST_LOOK), plan.affordable_rounds)
    planned = pilot_seconds + rounds * plan.round_seconds
    return min(_MOST_FIRST_STAYS, max(1, round(_TIME_SHARE * planned / stay_seconds)))
