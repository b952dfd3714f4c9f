"""What a series of measurements tells against the assumptions that its figures rest on.

A flag is pointed out beside a verdict, and changes none: nothing is removed and nothing corrected.
Every test has the same share of one level (Bonferroni), so that a study of independent normal noise
is flagged at all with a probability of at most `LEVEL`. A series too short for a test passes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Array = NDArray[np.float64]

LEVEL = 0.05
"""The chance of any flag in a study of independent normal noise."""

_FEWEST_FOR_T = 5
_FEWEST_FOR_SKEW = 8
"""D'Agostino's transformation is none of fewer (scipy.stats.skewtest)."""
_FEWEST_FOR_RANKS = 10
"""From here on the beta distribution below is as good as Bartels's own tables."""

_ROUNDING = 1e-13
"""Log figures have some 1e-16 for each unit of their size, a sum of many of them a little more."""


class Flag(StrEnum):
    """A finding in the figures (the first two), in a covariate (the last), or in the pairs."""

    DRIFT = "drift"
    LIKENESS = "alike neighbours"
    DRIFTING_DIFFERENCE = "drifting difference"
    ALIKE_DIFFERENCES = "alike neighbouring differences"
    SKEW = "skewed differences"
    LOPSIDED = "lopsided noise"
    IMBALANCE = "imbalanced covariate"
    """Of a covariate between configurations, see `iostudy.analysis.balance`."""


_TESTS_OF_FIGURES = 2
_TESTS_OF_PAIRS = 4


@dataclass(frozen=True)
class Shared:
    """The level of every single test, where several series and pairs are looked at together."""

    series: int
    pairs: int
    covariates: int = 0

    @property
    def level(self) -> float:
        """`LEVEL`, divided among all tests."""
        of_series = _TESTS_OF_FIGURES * self.series + _TESTS_OF_PAIRS * self.pairs
        tests = of_series + self.covariates
        return LEVEL / max(1, tests)


def flag_figures(figures: ArrayLike, groups: ArrayLike, shared: Shared) -> tuple[Flag, ...]:
    """The flags of finite log figures in run order; ``groups`` tells which configuration each had.

    Drift is a trend over the run order beside the effects of the configurations: the t test of its
    slope. Neighbours are alike if their differences are too small for what the values differ by in
    all (von Neumann's ratio of ranks, Bartels 1982), of what is left without the trend.
    """
    values, labels = np.asarray(figures, dtype=np.float64), np.asarray(groups)
    slope, left = _without_trend(values, labels)
    found = {
        Flag.DRIFT: slope,
        Flag.LIKENESS: _likeness(left),
    }
    return tuple(flag for flag, p in found.items() if p < shared.level)


def flag_pairs(baseline: ArrayLike, other: ArrayLike, shared: Shared) -> tuple[Flag, ...]:
    """The flags of two configurations by their finite log figures in the blocks that both have run.

    Trend and likeness are those of the paired log-ratios in the order of blocks, skew is
    D'Agostino's test of them (1970). Noise is lopsided where one configuration has more of it than
    the other: the correlation of sums and differences (Pitman 1939, Morgan 1939), which noise that
    both have in common does not touch.
    """
    first, second = (np.asarray(each, dtype=np.float64) for each in (baseline, other))
    ratios = _without_rounding(second - first, first)
    slope, left = _without_trend(ratios, np.zeros(len(ratios)))
    found = {
        Flag.DRIFTING_DIFFERENCE: slope,
        Flag.ALIKE_DIFFERENCES: _likeness(left),
        Flag.SKEW: _skew(ratios),
        Flag.LOPSIDED: _unequal_noise(first, second),
    }
    return tuple(flag for flag, p in found.items() if p < shared.level)


def _without_trend(values: Array, groups: NDArray[np.generic]) -> tuple[float, Array]:
    """p of the slope over the order, beside a mean for each group; and what both leave.

    By the theorem of Frisch, Waugh & Lovell: order and values are taken without the means of their
    groups, then the one is regressed on the other.
    """
    order = _without_means(np.arange(len(values), dtype=np.float64), groups)
    centred = _without_rounding(_without_means(values, groups), values)
    freedom = len(values) - len(np.unique(groups)) - 1
    sum_of_squares = float(order @ order)
    if len(values) < _FEWEST_FOR_T or freedom < 1 or sum_of_squares == 0:
        return 1.0, centred
    slope = float(order @ centred) / sum_of_squares
    left = centred - slope * order
    error = math.sqrt(float(left @ left) / freedom / sum_of_squares)
    return _two_sided(slope, error, freedom), left


def _without_means(values: Array, groups: NDArray[np.generic]) -> Array:
    """Each value without the mean of its group."""
    _, place, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return np.asarray(values - (np.bincount(place, values) / counts)[place])


def _without_rounding(values: Array, made_of: Array) -> Array:
    """All zeros where what they differ by is no more than the rounding of what they are made of.

    So that no test takes the last bits of figures that do not vary for a trend or a skew.
    """
    rounding = _ROUNDING * (1 + float(np.abs(made_of).max(initial=0.0)))
    is_constant = (np.abs(values - values[:1]) <= rounding).all()
    return np.zeros_like(values) if is_constant else values


def _likeness(values: Array) -> float:
    """p of neighbours as alike, by von Neumann's ratio of ranks; 1 where all are equal.

    With ranks R the ratio is sum((R_i - R_{i+1})^2) / sum((R_i - mean)^2), about 2 by chance. A
    quarter of it has nearly a symmetric beta distribution, of the same variance (Bartels 1982).
    """
    count = len(values)
    if count < _FEWEST_FOR_RANKS or np.ptp(values) == 0:
        return 1.0
    ranks = _ranks(values)
    ratio = float((np.diff(ranks) ** 2).sum() / ((ranks - ranks.mean()) ** 2).sum())
    numerator = 4 * (count - 2) * (5 * count**2 - 2 * count - 9)
    variance = numerator / (5 * count * (count + 1) * (count - 1) ** 2)
    shape = (4 / variance - 1) / 2
    return float(special.betainc(shape, shape, min(1.0, ratio / 4)))


def _ranks(values: Array) -> Array:
    """From 1; those that are equal share the mean of theirs."""
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - (times - 1) / 2)[place])


def _skew(values: Array) -> float:
    """p of D'Agostino's test (1970): the skewness of normal values, as a standard normal one.

    ``scipy.stats`` has the same, but takes a third of a second to load at every report.
    """
    n = len(values)
    if n < _FEWEST_FOR_SKEW or np.ptp(values) == 0:
        return 1.0
    apart = values - values.mean()
    skewness = float((apart**3).mean() / (apart**2).mean() ** 1.5)
    y = skewness * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    peak = 3 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3)
    kurtosis = peak / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    square = math.sqrt(2 * (kurtosis - 1)) - 1
    z = math.asinh(y * math.sqrt((square - 1) / 2)) / math.sqrt(math.log(square) / 2)
    return 2 * float(special.ndtr(-abs(z)))


def _unequal_noise(first: Array, second: Array) -> float:
    if len(first) < _FEWEST_FOR_T:
        return 1.0
    total, difference = (each - each.mean() for each in (first + second, second - first))
    spread = math.sqrt(float(total @ total) * float(difference @ difference))
    if spread == 0:
        return 1.0
    correlation = min(1.0, abs(float(total @ difference)) / spread)
    freedom = len(first) - 2
    return _two_sided(correlation, math.sqrt((1 - correlation**2) / freedom), freedom)


def _two_sided(estimate: float, error: float, freedom: int) -> float:
    """p of Student's t; 0 where there is no error at all, 1 where there is no estimate either."""
    if error == 0:
        return float(estimate == 0)
    return 2 * float(special.stdtr(freedom, -abs(estimate) / error))
