"""Tests of a series for drift, autocorrelation, skewness and unequal variances.

A flag does not change a verdict; nothing is removed or corrected. All tests share one level equally
(Bonferroni), so that a study of independent normal noise has any flag with a probability of at most
`LEVEL`. A series too short for a test has no flag of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy.analysis.distributions import Array, beta_cdf, normal_cdf, t_cdf, t_quantile

LEVEL = 0.05
"""The familywise error rate of all flags of a study."""

_MIN_FOR_T = 5
_MIN_FOR_SKEW = 8
"""D'Agostino's transformation needs as many (scipy.stats.skewtest)."""
_MIN_FOR_RANKS = 10
"""From here on the beta approximation is as accurate as Bartels's tables."""

_INTERVAL_LEVEL = 0.05
_LARGEST_SLOPE = 2.0
"""The slope of a baseline that feels no slow noise at all."""
_ROUNDING = 1e-13
"""Relative rounding error: about 1e-16 of a log figure, slightly more of a sum of many."""


class Flag(StrEnum):
    """A flag of figures (the first two), of pairs, of a covariate, or of the load (the last)."""

    DRIFT = "drift"
    AUTOCORRELATION = "autocorrelation"
    DRIFTING_DIFFERENCE = "drifting difference"
    AUTOCORRELATED_DIFFERENCES = "autocorrelated differences"
    SKEWED_DIFFERENCES = "skewed differences"
    UNEQUAL_VARIANCES = "unequal variances"
    IMBALANCE = "imbalanced covariate"
    """Of a covariate between configurations; see `iostudy.analysis.balance`."""
    RATE_LIMIT = "rate limit"
    """Of trials at a limit of the load; see `iostudy.report.topics.caveats`."""


_TESTS_OF_FIGURES = 2
_TESTS_OF_PAIRS = 4


@dataclass(frozen=True)
class FamilyOfTests:
    """A family of tests of several series, pairs and covariates."""

    series: int
    pairs: int
    covariates: int = 0

    @property
    def level(self) -> float:
        """The level of one test: `LEVEL` divided by the number of tests."""
        of_series = _TESTS_OF_FIGURES * self.series + _TESTS_OF_PAIRS * self.pairs
        return LEVEL / max(1, of_series + self.covariates)


def flag_figures(figures: ArrayLike, groups: ArrayLike, shared: FamilyOfTests) -> tuple[Flag, ...]:
    """Return the flags of finite log figures in run order; ``groups`` are their configurations.

    Drift: t test of the slope over the run order, adjusted for the configurations' effects.
    Autocorrelation: rank von Neumann ratio (Bartels 1982) of the residuals without the trend.
    """
    values, labels = np.asarray(figures, dtype=np.float64), np.asarray(groups)
    slope, residuals = _remove_trend(values, labels)
    p_values = {Flag.DRIFT: slope, Flag.AUTOCORRELATION: _autocorrelation_p_value(residuals)}
    return tuple(flag for flag, p in p_values.items() if p < shared.level)


def flag_pairs(baseline: ArrayLike, other: ArrayLike, shared: FamilyOfTests) -> tuple[Flag, ...]:
    """Return the flags of two configurations by their finite log figures in common blocks.

    Drift and autocorrelation are those of the paired log-ratios in block order. Skewness is
    D'Agostino's test (1970). Unequal variances: the correlation of sums and differences (Pitman
    1939, Morgan 1939), which common noise does not affect.
    """
    first, second = (np.asarray(figures, dtype=np.float64) for figures in (baseline, other))
    ratios = _clear_rounding(second - first, first)
    slope, residuals = _remove_trend(ratios, np.zeros(len(ratios)))
    p_values = {
        Flag.DRIFTING_DIFFERENCE: slope,
        Flag.AUTOCORRELATED_DIFFERENCES: _autocorrelation_p_value(residuals),
        Flag.SKEWED_DIFFERENCES: _skewness_p_value(ratios),
        Flag.UNEQUAL_VARIANCES: _unequal_variances_p_value(first, second),
    }
    return tuple(flag for flag, p in p_values.items() if p < shared.level)


@dataclass(frozen=True)
class SlowNoiseRatio:
    """How strongly a configuration feels slow noise: 1.2 is 1.2 times as much as the baseline.

    ``low`` and ``high`` are the ends of a 95 % interval.
    """

    value: float
    low: float
    high: float


def measure_slow_noise(baseline: ArrayLike, other: ArrayLike) -> SlowNoiseRatio | None:
    """Compare how two configurations feel slow noise, by finite log figures in common blocks.

    The level of a block is the mean of both log figures, and the slow noise at a block that of the
    blocks before and after it. Noise of single runs is in neither difference nor level of other
    blocks, so it causes no bias. With b the slope of the difference over the level, by this
    instrument, the ratio is (1 + b/2) / (1 - b/2). None for few blocks, or without slow noise.
    """
    first, second = (np.asarray(figures, dtype=np.float64) for figures in (baseline, other))
    if len(first) < _MIN_FOR_RANKS:
        return None
    level = (first + second) / 2
    near, middle, difference = (
        _clear_rounding(column - column.mean(), first)
        for column in ((level[:-2] + level[2:]) / 2, level[1:-1], (second - first)[1:-1])
    )
    shared, squares, freedom = float(near @ middle), float(near @ near), len(near) - 2
    if shared <= 0:
        return None
    slope = float(near @ difference) / squares
    residuals = difference - slope * near
    error = math.sqrt(float(residuals @ residuals) / freedom / squares)
    quantile = -float(t_quantile(freedom, _INTERVAL_LEVEL / 2))
    slopes = (slope + sign * quantile * error for sign in (0, -1, 1))
    scaled = (slope_end * squares / shared for slope_end in slopes)
    return SlowNoiseRatio(
        *(math.inf if s >= _LARGEST_SLOPE else max(0.0, (2 + s) / (2 - s)) for s in scaled)
    )


def _remove_trend(values: Array, groups: NDArray[np.generic]) -> tuple[float, Array]:
    """The p value of the slope over the order, adjusted for group means, and the residuals.

    By the Frisch-Waugh-Lovell theorem: group means are subtracted from order and values, and the
    latter are regressed on the former.
    """
    order = _remove_group_means(np.arange(len(values), dtype=np.float64), groups)
    centred = _clear_rounding(_remove_group_means(values, groups), values)
    freedom = len(values) - len(np.unique(groups)) - 1
    sum_of_squares = float(order @ order)
    if len(values) < _MIN_FOR_T or freedom < 1 or sum_of_squares == 0:
        return 1.0, centred
    slope = float(order @ centred) / sum_of_squares
    residuals = centred - slope * order
    error = math.sqrt(float(residuals @ residuals) / freedom / sum_of_squares)
    return _two_sided_p_value(slope, error, freedom), residuals


def _remove_group_means(values: Array, groups: NDArray[np.generic]) -> Array:
    """Subtract from each value the mean of its group."""
    _, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return np.asarray(values - (np.bincount(group, values) / counts)[group])


def _clear_rounding(values: Array, made_of: Array) -> Array:
    """Return zeros where values differ by no more than rounding errors of ``made_of``.

    Otherwise tests would find trends or skewness in the last bits of constant figures.
    """
    rounding = _ROUNDING * (1 + float(np.abs(made_of).max(initial=0.0)))
    is_constant = (np.abs(values - values[:1]) <= rounding).all()
    return np.zeros_like(values) if is_constant else values


def _autocorrelation_p_value(values: Array) -> float:
    """The one-sided p value of the rank von Neumann ratio; 1 where all values are equal.

    With ranks R the ratio is sum((R_i - R_{i+1})^2) / sum((R_i - mean)^2), about 2 under the null.
    A quarter of it has nearly a symmetric beta distribution of equal variance (Bartels 1982).
    """
    count = len(values)
    if count < _MIN_FOR_RANKS or np.ptp(values) == 0:
        return 1.0
    ranks = _ranks(values)
    ratio = float((np.diff(ranks) ** 2).sum() / ((ranks - ranks.mean()) ** 2).sum())
    numerator = 4 * (count - 2) * (5 * count**2 - 2 * count - 9)
    variance = numerator / (5 * count * (count + 1) * (count - 1) ** 2)
    shape = (4 / variance - 1) / 2
    return float(beta_cdf(shape, shape, min(1.0, ratio / 4)))


def _ranks(values: Array) -> Array:
    """Ranks from 1; ties get mid-ranks."""
    _, group, times = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - (times - 1) / 2)[group])


def _skewness_p_value(values: Array) -> float:
    """The two-sided p value of D'Agostino's skewness test (1970).

    ``scipy.stats`` has it, but takes a third of a second to load at every report.
    """
    n = len(values)
    if n < _MIN_FOR_SKEW or np.ptp(values) == 0:
        return 1.0
    centred = values - values.mean()
    skewness = float((centred**3).mean() / (centred**2).mean() ** 1.5)
    y = skewness * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    peak = 3 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3)
    kurtosis = peak / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    square = math.sqrt(2 * (kurtosis - 1)) - 1
    z = math.asinh(y * math.sqrt((square - 1) / 2)) / math.sqrt(math.log(square) / 2)
    return 2 * float(normal_cdf(-abs(z)))


def _unequal_variances_p_value(first: Array, second: Array) -> float:
    if len(first) < _MIN_FOR_T:
        return 1.0
    total, difference = (
        _clear_rounding(column - column.mean(), first)
        for column in (first + second, second - first)
    )
    spread = math.sqrt(float(total @ total) * float(difference @ difference))
    if spread == 0:
        return 1.0
    correlation = min(1.0, abs(float(total @ difference)) / spread)
    freedom = len(first) - 2
    return _two_sided_p_value(correlation, math.sqrt((1 - correlation**2) / freedom), freedom)


def _two_sided_p_value(estimate: float, error: float, freedom: int) -> float:
    """The two-sided p value of Student's t; without any error 1 for an estimate of 0, else 0."""
    if error == 0:
        return float(estimate == 0)
    return 2 * float(t_cdf(freedom, -abs(estimate) / error))


_SEED = 20_031
_DRAWS = 499
_MIN_VALUES = 12
_CYCLES = 3
"""Fewest cycles in the series."""
_OVERSAMPLING = 4
"""Frequencies for each independent one, so that no peak lies between two."""


def find_period(times: Array, values: Array) -> float | None:
    """Return the period in the unit of ``times``; None without one.

    The highest peak has to exceed those of random permutations of the values. Periods are at least
    twice the median distance of two values: shorter ones would appear as longer ones.
    """
    order = np.argsort(times)
    at, centred = times[order], values[order] - values.mean()
    if len(at) < _MIN_VALUES or not centred.any() or at[-1] <= at[0]:
        return None
    span = float(at[-1] - at[0])
    highest = span / (2 * float(np.median(np.diff(at))))
    cycles = np.arange(_CYCLES, highest, 1 / _OVERSAMPLING)
    if not len(cycles):
        return None
    generator = np.random.default_rng(_SEED)
    shuffled = generator.permuted(np.tile(centred, (_DRAWS, 1)), axis=1)
    powers = _periodogram(at, np.vstack([centred, shuffled]), cycles / span)
    peak = float(powers[0].max())
    p = (int((powers[1:].max(axis=1) >= peak).sum()) + 1) / (_DRAWS + 1)
    return span / float(cycles[np.argmax(powers[0])]) if p < LEVEL else None


def _periodogram(times: Array, series: Array, frequencies: Array) -> Array:
    """Return the power of each series (rows) at each frequency.

    The power is the sum of squares that a sine and a cosine explain.
    """
    angles = 2 * np.pi * np.outer(frequencies, times)
    doubled = np.exp(2j * angles).sum(axis=1)
    shifted = angles - (np.angle(doubled) / 2)[:, None]
    power = np.zeros((len(series), len(frequencies)))
    for wave in (np.cos(shifted), np.sin(shifted)):
        squares = np.maximum((wave**2).sum(axis=1), np.finfo(float).tiny)
        power += (series @ wave.T) ** 2 / squares
    return power
