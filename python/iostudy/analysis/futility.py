"""Predictive probability that a comparison is decided within its budget of blocks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iostudy.analysis.boundaries import Boundaries
from iostudy.analysis.distributions import t_cdf, t_quantile

Array = NDArray[np.float64]

FUTILITY = 0.05
"""A comparison stops if its probability of a verdict is less than this."""


def predictive_probability(
    mean: ArrayLike,
    sd: ArrayLike,
    count: ArrayLike,
    boundaries: Boundaries,
    delta: float,
    bias: float = 0.0,
    *,
    one_sided: ArrayLike = False,
) -> Array:
    """Return the probability of a verdict at the last analysis, elementwise.

    Given ``count`` of N blocks, the mean of all N has the predictive distribution
    t(count - 1) with centre ``mean`` and scale sd sqrt(1/count - 1/N), for a flat prior of the
    difference (Spiegelhalter, Freedman & Blackburn 1986). Its intervals have the widths of ``sd``.
    ``sd`` must be above 0, and ``count`` from 2 to N - 1. ``bias`` widens the intervals. Where
    ``one_sided`` is true, "not worse" and "not better" are verdicts, too.
    """
    mean, sd, count = (np.asarray(each, dtype=np.float64) for each in (mean, sd, count))
    last = boundaries.looks[-1]

    def half_width(level: float) -> Array:
        quantile = -t_quantile(last - 1, level / 2)
        return np.asarray(quantile * sd / math.sqrt(last) + bias)

    different = half_width(boundaries.difference[-1])
    inner = half_width(boundaries.equivalence[-1])
    within = np.clip(delta - inner, 0.0, different)
    apart = np.where(one_sided, np.clip(inner - delta, 0.0, different), different)
    within = np.minimum(within, apart)
    apart, within, mean = np.broadcast_arrays(apart, within, mean)
    limits = np.array([-apart, apart, within, -within])
    below = t_cdf(count - 1, (limits - mean) / (sd * np.sqrt(1 / count - 1 / last)))
    return np.asarray(below[0] + 1 - below[1] + below[2] - below[3])
