"""Effects of position and of the previous configuration on the windows of a switchback study.

The residuals of log figures, without the means of blocks and of configurations, are compared
between groups: windows with the same position in their block, or after the same configuration. In
the absence of carry-over and of trends within blocks, the random order makes groups exchangeable,
so the F test of one factor applies. With hundreds of blocks its normality assumption is harmless.
The estimate understates carry-over: the previous configuration never equals the present one, so
part of its effect is in the means of the configurations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

CONFIDENCE = 0.95


@dataclass(frozen=True)
class GroupEffect:
    """The effect of one grouping of windows on their log figures.

    ``p`` is that of the F test. ``group`` has the largest mean residual, ``effect`` is that
    log-ratio, and ``low`` and ``high`` its interval, not adjusted for the choice of the group.
    """

    p: float
    group: int
    effect: float
    low: float
    high: float


def measure_group_effect(logs: Array, groups: Labels) -> GroupEffect | None:
    """Test blocks x configurations of log figures for an effect of their groups.

    ``groups`` has the shape of ``logs``: the position of each window, or the index of the previous
    configuration; -1 leaves a window out. None with fewer than two groups or too few windows.
    """
    kept = groups >= 0
    residuals = logs - logs.mean(axis=1, keepdims=True) - logs.mean(axis=0) + logs.mean()
    values, places = residuals[kept], groups[kept]
    names, index, counts = np.unique(places, return_inverse=True, return_counts=True)
    freedom = (len(logs) - 1) * (logs.shape[1] - 1) - (len(names) - 1)
    if len(names) < 2 or freedom < 1:
        return None
    means = np.bincount(index, values) / counts
    between = float((counts * means**2).sum()) / (len(names) - 1)
    within = float(((values - means[index]) ** 2).sum()) / freedom
    if within == 0:
        return None
    largest = int(np.argmax(np.abs(means)))
    half = -float(special.stdtrit(freedom, (1 - CONFIDENCE) / 2)) * math.sqrt(
        within / counts[largest]
    )
    effect = float(means[largest])
    return GroupEffect(
        p=float(special.fdtrc(len(names) - 1, freedom, between / within)),
        group=int(names[largest]),
        effect=effect,
        low=effect - half,
        high=effect + half,
    )
