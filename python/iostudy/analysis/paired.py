"""Paired log-ratios and the t interval of their mean.

In block i the baseline measured y_Ai and the other configuration y_Bi. Then

    d_i = s * ln(y_Bi / y_Ai),  s = +1 where higher is better, -1 where lower is better,

so that a positive d is always an improvement. Influences that both trials of a block share (disk
state, other tenants, time of day) cancel, and so does the unit of the figure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy.analysis.distributions import Array, Flags, t_quantile


@dataclass(frozen=True)
class Interval:
    """An interval of log-ratios; infinite where the data give none."""

    low: float
    high: float

    def as_fractions(self) -> tuple[float, float]:
        """Return both ends as relative differences: 0.03 is 3 % more."""
        with np.errstate(over="ignore"):
            low, high = np.expm1([self.low, self.high])
        return float(low), float(high)

    def mirrored(self) -> Interval:
        """Return the interval of the same data with the two configurations swapped."""
        return Interval(-self.high, -self.low)


UNKNOWN = Interval(-math.inf, math.inf)


def as_fraction(log_ratio: float) -> float:
    """Return exp(x) - 1, a log-ratio as a relative difference; infinite on overflow.

    An infinite log-ratio, of failed runs, has no size: it is NaN, and not a loss of 100 %.
    """
    if not math.isfinite(log_ratio):
        return math.nan
    with np.errstate(over="ignore"):
        return float(np.expm1(log_ratio))


@dataclass(frozen=True)
class PairedRuns:
    """s ln y of two configurations in their common blocks; -inf is a failed run.

    ``after`` says in which blocks the other ran after the baseline; None where a block has no one
    order, as with windows. A block in which both failed is left out; ``lost`` are those before each
    block, None if there are none. The last axis is that of blocks; rows are pairs with the same
    blocks.
    """

    baseline: Array
    other: Array
    after: Flags | None = None
    lost: NDArray[np.int64] | None = None

    @classmethod
    def from_figures(
        cls,
        baseline: Sequence[float],
        other: Sequence[float],
        *,
        higher_is_better: bool,
        after: Sequence[bool] | None = None,
    ) -> PairedRuns:
        """Pair figures block by block. NaN is a failed run.

        Raises ValueError for unequal lengths, and for a figure that is not positive and finite. The
        message names the index of that figure.
        """
        if len(baseline) != len(other):
            count = f"{len(baseline)} baseline figures"
            raise ValueError(f"{count} cannot pair with {len(other)} others")
        x, y = _performance("baseline", baseline), _performance("other", other)
        if not higher_is_better:
            x, y = (np.where(np.isneginf(values), values, -values) for values in (x, y))
        kept = ~(np.isneginf(x) & np.isneginf(y))
        order = None if after is None else np.asarray(after, dtype=bool)[kept]
        return cls(x[kept], y[kept], order, np.cumsum(~kept, dtype=np.int64)[kept])

    @property
    def differences(self) -> Array:
        """The paired log-ratios, positive where the other is better."""
        return self.other - self.baseline

    def first(self, count: int) -> PairedRuns:
        """Return the first blocks."""
        return self.take(np.s_[..., :count])

    def take(self, index: Any) -> PairedRuns:
        """Return some of the pairs, or some blocks of all."""
        after = None if self.after is None else self.after[index]
        lost = None if self.lost is None else self.lost[index]
        return PairedRuns(self.baseline[index], self.other[index], after, lost)


def _performance(name: str, figures: Sequence[float]) -> Array:
    values = np.asarray(figures, dtype=np.float64)
    failed = np.isnan(values)
    unusable = np.flatnonzero(~(failed | (np.isfinite(values) & (values > 0))))
    if unusable.size:
        index = int(unusable[0])
        raise ValueError(f"{name}[{index}] is {values[index]}, not a positive finite figure")
    return np.where(failed, -np.inf, np.log(np.where(failed, 1.0, values)))


def mean_interval(ratios: Array, alpha: float) -> Interval:
    """Return the two-sided t interval of the mean at level ``alpha``; infinite for n < 2."""
    if len(ratios) < 2:
        return UNKNOWN
    low, high = t_bounds(np.mean(ratios), np.std(ratios, ddof=1), len(ratios), alpha)
    return Interval(float(low), float(high))


def t_bounds(
    mean: ArrayLike, sd: ArrayLike, count: ArrayLike, alpha: ArrayLike
) -> tuple[Array, Array]:
    """Return mean -+ t(1 - alpha/2, count-1) * sd / sqrt(count), elementwise.

    ``count`` must be at least 2 everywhere.
    """
    count = np.asarray(count, dtype=np.float64)
    quantile = -t_quantile(count - 1, np.asarray(alpha) / 2)
    half = quantile * np.asarray(sd) / np.sqrt(count)
    return np.asarray(mean - half), np.asarray(mean + half)
