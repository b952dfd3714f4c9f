"""Hodges-Lehmann estimate with the exact Wilcoxon signed-rank interval.

The estimate is the median of all Walsh averages (d_i + d_j)/2, i <= j, and is robust against
outliers. The interval lies between the order statistics of those averages that the signed-rank test
does not reject (Hodges & Lehmann 1963; Hollander, Wolfe & Chicken 2014, section 3.2-3.3). The
distribution of the signed-rank statistic is exact, by counting.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.paired import UNKNOWN, Array, Interval


def hodges_lehmann(averages: Array) -> float:
    """Return the median of the Walsh averages; NaN for none."""
    return float(np.median(averages)) if len(averages) else math.nan


def signed_rank_interval(averages: Array, count: int, alpha: float) -> Interval:
    """Return the two-sided signed-rank interval at level ``alpha`` or below (W is discrete).

    ``averages`` are those of ``count`` ratios. The interval is infinite where the ratios are too
    few for the level: 2 * 2^-count <= alpha must hold.
    """
    trimmed = _trimmed_at_each_end(count, alpha)
    if trimmed is None:
        return UNKNOWN
    last = len(averages) - 1 - trimmed
    in_place = np.partition(averages, (trimmed, last))
    return Interval(float(in_place[trimmed]), float(in_place[last]))


def walsh_averages(ratios: Array) -> Array:
    """Return (d_i + d_j)/2 of all i <= j, in arbitrary order."""
    first, second = _pairs(len(ratios))
    # Sorted ratios give nearly sorted averages, which np.partition handles four times as fast.
    in_order = np.sort(ratios)
    return np.asarray((in_order[first] + in_order[second]) / 2)


@functools.lru_cache(maxsize=4)
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Index all pairs i <= j. The cache suits the nearly equal block counts of a workload."""
    return np.triu_indices(count)


@functools.cache
def _trimmed_at_each_end(count: int, alpha: float) -> int | None:
    """The averages to trim at each end: the largest k with P(W <= k) <= alpha/2."""
    inside = np.flatnonzero(np.cumsum(_signed_rank_probabilities(count)) <= alpha / 2)
    return int(inside[-1]) if inside.size else None


def _signed_rank_probabilities(count: int) -> Array:
    """P(W = w) under the null, w = 0 .. n(n+1)/2; each rank is included with probability 1/2."""
    probabilities = np.zeros(count * (count + 1) // 2 + 1)
    probabilities[0] = 1.0
    for rank in range(1, count + 1):
        with_rank = probabilities[:-rank].copy()
        probabilities[rank:] += with_rank
        probabilities /= 2
    return probabilities
