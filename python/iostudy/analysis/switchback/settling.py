"""Test of windows for responses to a switch that have not settled.

A window has two halves. Their log-ratio is an increment within a window: a difference of levels
does not change it, so that the test does not select among verdicts. For a level that has settled
its mean is zero. A response whose time constant is a window changes the halves by half the bias of
the window; a faster one by more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from iostudy.analysis.distributions import t_quantile

RISK_SHARE = 0.2
"""The share of a study's risk for levels that are found unsettled by chance.

Whole trials then decide at the whole risk. The verdicts of windows have the rest of it.
"""
TOLERANCE = 1 / 8
"""The change within a window that matters, in margins: a bias of a quarter of the margin."""
_FEWEST = 8
"""Fewest increments of a level for a test."""


def list_unsettled(
    increments: Mapping[str, Sequence[float]], margin: float, level: float
) -> tuple[str, ...]:
    """Return the configurations whose windows certainly change by more than the tolerance.

    ``increments`` are means over the windows of a block, as log-ratios of the second half to the
    first; a slow change of the noise is part of their deviation. ``level`` is the probability that
    any configuration is found by chance, ``margin`` a log-ratio.
    """
    own_level = level / max(1, len(increments))
    return tuple(
        label
        for label, own in increments.items()
        if len(own) >= _FEWEST and _certain_change(own, own_level) > TOLERANCE * margin
    )


def _certain_change(increments: Sequence[float], level: float) -> float:
    """Return the smallest absolute value in the two-sided t interval of the mean."""
    count = len(increments)
    half = -float(t_quantile(count - 1, level / 2)) * np.std(increments, ddof=1) / math.sqrt(count)
    return float(abs(np.mean(increments)) - half)
