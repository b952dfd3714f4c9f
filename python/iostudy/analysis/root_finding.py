"""Ridders' method (1979) for the root of a function of one variable."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

_MAX_STEPS = 60


def find_root(
    function: Callable[[float], float], low: float, high: float, tolerance: float
) -> float:
    """Return a root between ``low`` and ``high``; the last step is at most ``tolerance``.

    ValueError unless the function has opposite signs at both ends.
    """
    bracket = [(low, function(low)), (high, function(high))]
    if bracket[0][1] * bracket[1][1] > 0:
        raise ValueError("the function has the same sign at both ends")
    estimate = math.inf
    for _ in range(_MAX_STEPS):
        (low, at_low), (high, at_high) = bracket
        middle = (low + high) / 2
        at_middle = function(middle)
        if at_middle == 0:
            return middle
        before, sign = estimate, math.copysign(1.0, at_low - at_high)
        scale = math.sqrt(at_middle**2 - at_low * at_high)
        estimate = middle + (middle - low) * sign * at_middle / scale
        if min(abs(estimate - before), high - low) <= tolerance:
            return estimate
        points = sorted([*bracket, (middle, at_middle), (estimate, function(estimate))])
        bracket = next([a, b] for a, b in pairwise(points) if a[1] * b[1] <= 0)
    return estimate
