"""Agreement of a difference in whole trials with the same difference in windows.

The two estimates are independent, so their difference has the interval of Welch (1947): standard
errors of both combined, degrees of freedom by Satterthwaite. Windows agree with trials if the
interval is within the margin, and disagree if it excludes zero and exceeds the margin. These are
the rules of a verdict. The interval is symmetric, so a disagreement is larger than half the margin.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from iostudy.analysis.distributions import t_quantile

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


def measure_agreement(trials: PairedMean, windows: PairedMean, margin: float) -> Agreement:
    """Compare whole trials with windows; ``margin`` is a log-ratio."""
    difference = trials.mean - windows.mean
    half = _half_width(trials, windows, trials.count)
    low, high = difference - half, difference + half
    if -margin <= low and high <= margin:
        outcome = ConfirmationOutcome.AGREE
    elif low > 0 or high < 0:
        outcome = ConfirmationOutcome.DISAGREE
    else:
        # An interval this narrow around the same difference excludes zero or is within the margin.
        decisive = max(margin - abs(difference), abs(difference))
        needed = _find_blocks(lambda count: _half_width(trials, windows, count) < decisive, trials)
        return Agreement(difference, low, high, ConfirmationOutcome.UNDECIDED, needed)
    return Agreement(difference, low, high, outcome)


def _find_blocks(decides: Callable[[int], bool], trials: PairedMean) -> int | None:
    counts = range(trials.count + 1, MOST_BLOCKS + 1)
    return next(filter(decides, counts), None)


def _half_width(trials: PairedMean, windows: PairedMean, count: int) -> float:
    """Return the half-width of the interval if so many blocks of trials had the same sd."""
    first, second = trials.sd**2 / count, windows.sd**2 / windows.count
    if first + second == 0:
        return 0.0
    freedom = (first + second) ** 2 / (first**2 / (count - 1) + second**2 / (windows.count - 1))
    quantile = -float(t_quantile(freedom, (1 - CONFIDENCE) / 2))
    return quantile * math.sqrt(first + second)
