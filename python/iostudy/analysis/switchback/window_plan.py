"""Window length and washouts of a switchback study, for the least expected measuring time.

For each candidate window the pilot gives the washout of every level and the deviation of a pair of
windows. The blocks that find a difference of the margin with power 0.8 follow from that deviation
(normal approximation), and the duration of a block from switches, washouts and windows. Pilot data
decide nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from iostudy.analysis.switchback.allan import compute_pair_deviation
from iostudy.analysis.switchback.response import Response

Array = NDArray[np.float64]

MIN_OPERATIONS = 20
"""Fewest operations of a window; its count then deviates by 22 % for Poisson arrivals."""
MIN_WASHOUT_SECONDS = 0.02
"""Shortest washout: requests queued before the switch complete in it."""
LONGEST_WASHOUT_SECONDS = 5.0
"""Longest washout; a level that needs more is compared by whole trials."""
_POWER = 0.8
_WINDOWS_PER_DECADE = 12


@dataclass(frozen=True)
class Pilot:
    """What the pilot of one workload measured.

    ``rates`` are those of the steady baseline in bins of ``bin_seconds``, ``operation_rate`` its
    operations per second. ``responses`` are those of the levels by configuration, None where none
    could be estimated; ``switch_seconds`` is the mean duration of a switch to each configuration,
    the baseline included.
    """

    rates: Array
    bin_seconds: float
    operation_rate: float
    responses: Mapping[str, Response | None]
    switch_seconds: Mapping[str, float]


@dataclass(frozen=True)
class WindowPlan:
    """The chosen windows: one length for all, a washout for each configuration.

    ``deviation`` is the expected standard deviation of a paired log-ratio, ``blocks`` the expected
    number that finds the margin, ``expected_seconds`` their duration.
    """

    window_seconds: float
    washout_seconds: Mapping[str, float]
    deviation: float
    blocks: int
    expected_seconds: float


def list_unsettled(pilot: Pilot, tolerance: float) -> tuple[str, ...]:
    """Return the configurations that do not settle before any window of the pilot."""
    sizes = _candidate_sizes(pilot) or (1,)
    washouts = compute_washouts(pilot, sizes[-1] * pilot.bin_seconds, tolerance)
    return tuple(label for label, own in washouts.items() if own > LONGEST_WASHOUT_SECONDS)


def compute_washouts(pilot: Pilot, window_seconds: float, tolerance: float) -> dict[str, float]:
    """Return the washout of every configuration in seconds; infinite without a response."""
    return {
        label: max(MIN_WASHOUT_SECONDS, response.washout(window_seconds, tolerance))
        if response is not None
        else math.inf
        for label, response in pilot.responses.items()
    }


def choose_windows(
    pilot: Pilot, margin: float, tolerance: float, level: float
) -> WindowPlan | None:
    """Choose the window length of the least expected time; None if no length is possible.

    ``margin`` and ``tolerance`` are log-ratios: the difference to find, and the largest accepted
    bias by the response of a level. ``level`` is the two-sided level of a comparison.
    A length at which a configuration needs more than the longest washout is not possible.
    """
    plans = (
        _plan_window(pilot, size, margin, tolerance, level) for size in _candidate_sizes(pilot)
    )
    return min(filter(None, plans), key=lambda plan: plan.expected_seconds, default=None)


def _candidate_sizes(pilot: Pilot) -> tuple[int, ...]:
    """Window lengths in bins, from that of the fewest operations to an eighth of the pilot."""
    smallest = max(1, math.ceil(MIN_OPERATIONS / pilot.operation_rate / pilot.bin_seconds))
    largest = len(pilot.rates) // 8
    if smallest > largest:
        return ()
    steps = math.ceil(_WINDOWS_PER_DECADE * math.log10(largest / smallest)) + 1
    return tuple(int(size) for size in np.unique(np.geomspace(smallest, largest, steps).round()))


def _plan_window(
    pilot: Pilot, size: int, margin: float, tolerance: float, level: float
) -> WindowPlan | None:
    seconds = size * pilot.bin_seconds
    washouts = compute_washouts(pilot, seconds, tolerance)
    block = sum(pilot.switch_seconds[label] + own + seconds for label, own in washouts.items())
    if max(washouts.values()) > LONGEST_WASHOUT_SECONDS:
        return None
    deviation = compute_pair_deviation(
        pilot.rates, size, _mean_distance(pilot, block, len(washouts))
    )
    if not math.isfinite(deviation):
        return None
    blocks = _required_blocks(deviation, margin, level)
    return WindowPlan(seconds, washouts, deviation, blocks, blocks * block)


def _mean_distance(pilot: Pilot, block_seconds: float, count: int) -> int:
    """Return the mean distance of two windows in bins: (count + 1) / 3 steps in random order.

    It is at most half the pilot, beyond which no pair of windows is left to estimate from.
    """
    distance = block_seconds / count * (count + 1) / 3
    return max(1, min(round(distance / pilot.bin_seconds), len(pilot.rates) // 2))


def _required_blocks(deviation: float, margin: float, level: float) -> int:
    quantiles = -float(special.ndtri(level / 2)) + float(special.ndtri(_POWER))
    return max(2, math.ceil((quantiles * deviation / margin) ** 2))
