"""Verdicts, and the one that an interval and a margin give."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy.analysis.paired import Interval, as_fraction
from iostudy.analysis.rule import Rule


class Verdict(StrEnum):
    """The result of a comparison of a configuration with the baseline."""

    EQUIVALENT = "equivalent"
    BETTER = "better"
    WORSE = "worse"
    NOT_WORSE = "not worse"
    NOT_BETTER = "not better"
    INCONCLUSIVE = "inconclusive"

    @property
    def is_final(self) -> bool:
        """Whether no further block can change it."""
        return self in _FINAL

    @property
    def two_sided(self) -> Verdict:
        """Itself if it is final, else inconclusive: a one-sided verdict decides no difference."""
        return self if self.is_final else Verdict.INCONCLUSIVE


_FINAL = frozenset({Verdict.EQUIVALENT, Verdict.BETTER, Verdict.WORSE})


@dataclass(frozen=True)
class EstimatedDifference:
    """A difference with its interval and its verdict.

    ``estimate`` and ``interval`` are log-ratios, positive where the other configuration is better.
    ``by_margin``: the difference is at least the margin.
    """

    estimate: float
    interval: Interval
    verdict: Verdict
    by_margin: bool
    higher_is_better: bool

    @property
    def change(self) -> float:
        """The relative change of the figure itself: 0.12 is a figure 12 % higher, good or bad."""
        return as_fraction(self.estimate if self.higher_is_better else -self.estimate)

    @property
    def change_interval(self) -> tuple[float, float]:
        """The interval of ``change``, lower end first."""
        interval = self.interval if self.higher_is_better else self.interval.mirrored()
        return interval.as_fractions()


def classify_intervals(
    low: ArrayLike, high: ArrayLike, count: ArrayLike, rule: Rule
) -> NDArray[np.str_]:
    """Classify intervals [low, high] after ``count`` blocks, elementwise.

    The order of the tests is fixed: too few blocks, equivalent, better, worse, inconclusive.
    """
    low, high, delta = np.asarray(low), np.asarray(high), rule.delta
    conditions = {
        Verdict.INCONCLUSIVE: np.asarray(count) < rule.min_blocks,
        Verdict.EQUIVALENT: (-delta < low) & (high < delta),
        Verdict.BETTER: low > 0,
        Verdict.WORSE: high < 0,
    }
    words = [np.str_(verdict) for verdict in conditions]
    return np.select(list(conditions.values()), words, default=np.str_(Verdict.INCONCLUSIVE))


def exceeds_margin(verdict: Verdict, interval: Interval, delta: float) -> bool:
    """Whether the whole interval lies beyond the margin, of which ``delta`` is the log-ratio."""
    match verdict:
        case Verdict.BETTER:
            return interval.low > delta
        case Verdict.WORSE:
            return interval.high < -delta
        case _:
            return False
