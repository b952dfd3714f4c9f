"""Agreement of a difference in whole trials with the same difference in windows.

The two estimates are independent, so their difference has the interval of Welch (1947): standard
errors of both combined, degrees of freedom by Satterthwaite. Windows agree with trials if that
interval is within the margin. They disagree if the interval of the trials and the shown interval of
the windows are disjoint: the windows were selected for their verdict, so their estimate alone is
too extreme.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from iostudy.analysis.distributions import t_quantile
from iostudy.analysis.paired import Interval

CONFIDENCE = 0.95
MOST_BLOCKS = 1000
"""Largest number of blocks that is searched for a decision."""


class ConfirmationOutcome(StrEnum):
    """The result of a confirmation."""

    AGREE = "agree"
    DISAGREE = "disagree"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class PairedMean:
    """The mean of ``count`` >= 2 paired log-ratios with their standard deviation."""

    mean: float
    sd: float
    count: int

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the mean."""
        half = _trial_half_width(self, self.count)
        return Interval(self.mean - half, self.mean + half)


@dataclass(frozen=True)
class Agreement:
    """The difference of trials minus windows, a log-ratio, with its interval and outcome.

    ``blocks_needed`` is the total number of blocks of trials that would probably decide an
    undecided confirmation; None for the others, and where none of up to 1000 would.
    """

    difference: float
    low: float
    high: float
    outcome: ConfirmationOutcome
    blocks_needed: int | None = None


def measure_agreement(
    trials: PairedMean, windows: PairedMean, shown: Interval, margin: float
) -> Agreement:
    """Compare whole trials with windows; ``shown`` is their interval, ``margin`` a log-ratio."""
    difference = trials.mean - windows.mean
    half = _half_width(trials, windows, trials.count)
    low, high = difference - half, difference + half
    # The distance of the trials from the interval of the windows; negative within it.
    apart = max(trials.mean - shown.high, shown.low - trials.mean)
    if -margin <= low and high <= margin:
        outcome = ConfirmationOutcome.AGREE
    elif apart > _trial_half_width(trials, trials.count):
        outcome = ConfirmationOutcome.DISAGREE
    else:
        # The same estimates would decide with intervals this narrow.
        room = margin - abs(difference)
        further = (
            count
            for count in range(trials.count + 1, MOST_BLOCKS + 1)
            if _half_width(trials, windows, count) < room
            or _trial_half_width(trials, count) < apart
        )
        needed = next(further, None)
        return Agreement(difference, low, high, ConfirmationOutcome.UNDECIDED, needed)
    return Agreement(difference, low, high, outcome)


def _trial_half_width(trials: PairedMean, count: int) -> float:
    """Return the half-width of the interval of so many blocks of trials alone."""
    quantile = -float(t_quantile(count - 1, (1 - CONFIDENCE) / 2))
    return quantile * trials.sd / math.sqrt(count)


def _half_width(trials: PairedMean, windows: PairedMean, count: int) -> float:
    """Return the half-width of the interval if so many blocks of trials had the same sd."""
    first, second = trials.sd**2 / count, windows.sd**2 / windows.count
    if first + second == 0:
        return 0.0
    freedom = (first + second) ** 2 / (first**2 / (count - 1) + second**2 / (windows.count - 1))
    quantile = -float(t_quantile(freedom, (1 - CONFIDENCE) / 2))
    return quantile * math.sqrt(first + second)
