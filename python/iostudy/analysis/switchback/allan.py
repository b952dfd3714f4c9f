"""Allan deviation of a steady rate, and the deviation of two windows at a distance.

The Allan variance of windows of m samples is half the mean squared difference of successive window
means (Allan 1966). Unlike the variance it exists for drifting series. The overlapping estimator
uses every position of the windows (Howe, Allan & Barnes 1981). Both functions work on logarithms of
window means, so deviations are relative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_WINDOWS_PER_SERIES = 4
"""A deviation needs at least as many separate windows, or it is too uncertain to use."""
_STEPS_PER_DECADE = 6


@dataclass(frozen=True)
class AllanDeviation:
    """The relative Allan deviation of windows of ``seconds``."""

    seconds: float
    deviation: float


def compute_allan_deviations(rates: Array, bin_seconds: float) -> tuple[AllanDeviation, ...]:
    """Return the Allan deviation at geometrically spaced window lengths.

    ``rates`` are those of successive bins of ``bin_seconds`` without a gap. Window lengths at which
    a window has no operation are left out.
    """
    found = (
        (size * bin_seconds, compute_pair_deviation(rates, size, size) / math.sqrt(2))
        for size in _window_sizes(len(rates) // _WINDOWS_PER_SERIES)
    )
    return tuple(AllanDeviation(*each) for each in found if math.isfinite(each[1]))


def compute_pair_deviation(rates: Array, size: int, distance: int) -> float:
    """Return the standard deviation of log-ratios of two windows of the same series.

    ``size`` and ``distance``, from start to start, are in bins. NaN if the series is too short or a
    window has no operation. Differences of a series without a trend have mean 0, so the mean square
    is the variance.
    """
    count = len(rates) - size - distance + 1
    if count < 1:
        return math.nan
    sums = np.concatenate([[0.0], np.cumsum(rates)])
    means = (sums[size:] - sums[:-size]) / size
    if (means <= 0).any():
        return math.nan
    logs = np.log(means)
    return float(np.sqrt(np.mean((logs[distance:] - logs[:-distance]) ** 2)))


def compute_bin_variance(curves: Array) -> float:
    """Return the relative Allan variance of single bins, over curves x bins of rates.

    Infinite without an operation or a second bin.
    """
    mean = curves.mean() if curves.size else 0.0
    if curves.shape[1] < 2 or mean <= 0:
        return math.inf
    return float((np.diff(curves, axis=1) ** 2).mean() / 2 / mean**2)


def _window_sizes(largest: int) -> tuple[int, ...]:
    if largest < 1:
        return ()
    steps = math.ceil(_STEPS_PER_DECADE * math.log10(largest)) + 1
    return tuple(int(size) for size in np.unique(np.geomspace(1, largest, steps).round()))
