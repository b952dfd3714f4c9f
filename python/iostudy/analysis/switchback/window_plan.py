"""Windows, washouts and rounds of a switchback study, for the least expected measuring time.

For each candidate window and each tolerance of the bias by responses, the pilot gives the washout
of every level and the deviation of a pair of windows. The rounds that find a difference of the
margin with power 0.8 follow from that deviation (normal approximation), and the duration of a round
from switches, washouts and windows. Pilot data decide nothing else.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.distributions import normal_quantile
from iostudy.analysis.switchback.allan import compute_pair_deviation
from iostudy.analysis.switchback.response import Response

Array = NDArray[np.float64]

MIN_WASHOUT_SECONDS = 0.02
"""Shortest washout: requests queued before the switch complete in it."""
LONGEST_WASHOUT_SECONDS = 10.0
"""Longest washout; a level that needs more is compared by whole trials."""
BOUND_SHARE = 0.2
"""The share of a study's risk that the bounds of all responses take together."""
TOLERANCES = (1 / 4, 1 / 8, 1 / 16, 1 / 32)
"""Largest bias by the response of the slowest configuration, in margins.

Every interval is wider by the bias of two configurations.
"""
FIRST_LOOK = 10
"""Fewest blocks of a verdict; a t interval of fewer is wide and sensitive to skewness."""
_POWER = 0.8
_WINDOWS_PER_DECADE = 12
_CURVATURE_ROUNDS = 16
"""Rounds of a block per half the variance of a pair of windows, in margins.

The log of a mean of G windows of relative deviation s is biased by -s^2 / (2 G). The variance of a
pair is at least s^2, so the bias is at most 1/16 of the margin, and 1/32 for equal deviations.
"""


@dataclass(frozen=True)
class Pilot:
    """Measurements of the pilot of one workload.

    ``rates`` are those of the steady baseline in bins of ``bin_seconds``. ``operation_rate`` are
    the operations per second of the slowest configuration, ``min_operations`` the fewest that a
    window needs for its figure. ``responses`` are those of the levels by configuration, and
    ``switch_seconds`` the mean durations of a switch, both with the baseline. ``excess_variance``
    is the relative variance of a bin of the noisiest configuration beyond that of the baseline.
    """

    rates: Array
    bin_seconds: float
    operation_rate: float
    responses: Mapping[str, Response]
    switch_seconds: Mapping[str, float]
    min_operations: int
    excess_variance: float


@dataclass(frozen=True)
class WindowPlan:
    """The chosen windows: one length for all, a washout for each configuration.

    ``bias`` is the largest bias of a comparison by the responses, a log-ratio. ``deviation`` is the
    expected standard deviation of the log-ratio of a pair of windows, of the baseline and the
    noisiest configuration. ``needed_rounds`` find the margin with power 0.8, and the time has room
    for ``affordable_rounds``. ``averaged_rounds`` are those of a block whose mean has nearly no
    bias by the logarithm.
    """

    window_seconds: float
    washout_seconds: Mapping[str, float]
    bias: float
    deviation: float
    round_seconds: float
    needed_rounds: int
    affordable_rounds: int
    averaged_rounds: int

    @property
    def expected_rounds(self) -> int:
        """The rounds of a verdict: the needed ones, and at least those of the first look."""
        return max(self.needed_rounds, FIRST_LOOK)

    @property
    def expected_seconds(self) -> float:
        """The duration of the expected rounds."""
        return self.expected_rounds * self.round_seconds


def bound_level(risk: float, responses: int) -> float:
    """Return the level of the bound of one response: all of them share a part of the risk."""
    return BOUND_SHARE * risk / responses


def has_windows(pilot: Pilot) -> bool:
    """Return whether the pilot is long enough for a window with the fewest operations."""
    return bool(_candidate_sizes(pilot))


def list_unsettled(pilot: Pilot, margin: float) -> tuple[str, ...]:
    """Return the configurations that do not settle before any window of the pilot."""
    sizes = _candidate_sizes(pilot) or (1,)
    tolerance = max(TOLERANCES) * margin
    washouts = compute_washouts(pilot, sizes[-1] * pilot.bin_seconds, tolerance)
    return tuple(
        label
        for label, response in pilot.responses.items()
        if response.late_change > tolerance or washouts[label] > LONGEST_WASHOUT_SECONDS
    )


def compute_washouts(pilot: Pilot, window_seconds: float, tolerance: float) -> dict[str, float]:
    """Return the washout of every configuration in seconds.

    ``tolerance`` is the largest accepted bias by the slowest response, a log-ratio. Those of the
    others are in proportion to their slowest time constants, which minimises the sum of washouts
    of a given sum of biases.
    """
    slowest = max(response.slowest_seconds for response in pilot.responses.values())
    return {
        label: max(
            MIN_WASHOUT_SECONDS,
            response.washout(window_seconds, tolerance * response.slowest_seconds / slowest),
        )
        for label, response in pilot.responses.items()
    }


def choose_windows(
    pilot: Pilot, margin: float, level: float, longest_seconds: float
) -> WindowPlan | None:
    """Choose the windows of the least expected time; None if no length is possible.

    ``margin`` is the log-ratio to find, ``level`` the two-sided level of a comparison,
    ``longest_seconds`` the time that the windows may take. None if a configuration does not settle
    (`list_unsettled`), or if the time has no room for the fewest blocks.
    """
    if list_unsettled(pilot, margin):
        return None
    plans = (
        _plan_window(pilot, size, tolerance * margin, margin, level, longest_seconds)
        for size, tolerance in itertools.product(_candidate_sizes(pilot), TOLERANCES)
    )
    return min(filter(None, plans), key=lambda plan: plan.expected_seconds, default=None)


def _candidate_sizes(pilot: Pilot) -> tuple[int, ...]:
    """Window lengths in bins, from that of the fewest operations to an eighth of the pilot."""
    smallest = max(1, math.ceil(pilot.min_operations / pilot.operation_rate / pilot.bin_seconds))
    largest = len(pilot.rates) // 8
    if smallest > largest:
        return ()
    steps = math.ceil(_WINDOWS_PER_DECADE * math.log10(largest / smallest)) + 1
    return tuple(int(size) for size in np.unique(np.geomspace(smallest, largest, steps).round()))


def _plan_window(
    pilot: Pilot, size: int, tolerance: float, margin: float, level: float, longest_seconds: float
) -> WindowPlan | None:
    seconds = size * pilot.bin_seconds
    washouts = compute_washouts(pilot, seconds, tolerance)
    if max(washouts.values()) > LONGEST_WASHOUT_SECONDS:
        return None
    round_seconds = _round_seconds(pilot, washouts, seconds)
    deviation = _pair_deviation(pilot, size, _mean_distance(pilot, round_seconds, len(washouts)))
    if not math.isfinite(deviation):
        return None
    bias = _largest_bias(pilot, washouts, seconds)
    needed = _required_rounds(deviation, margin - bias, level)
    affordable = int(longest_seconds / round_seconds)
    if affordable < FIRST_LOOK:
        return None
    return WindowPlan(
        window_seconds=seconds,
        washout_seconds=washouts,
        bias=bias,
        deviation=deviation,
        round_seconds=round_seconds,
        needed_rounds=needed,
        affordable_rounds=affordable,
        averaged_rounds=max(1, math.ceil(_CURVATURE_ROUNDS * deviation**2 / 2 / margin)),
    )


def _pair_deviation(pilot: Pilot, size: int, distance: int) -> float:
    """Return the deviation of a pair of windows; the excess of the noisiest one is white noise."""
    equal = compute_pair_deviation(pilot.rates, size, distance)
    return math.sqrt(equal**2 + pilot.excess_variance / size)


def _round_seconds(pilot: Pilot, washouts: Mapping[str, float], window_seconds: float) -> float:
    """Return the duration of a round, with the discarded window of its first configuration."""
    switched = sum(pilot.switch_seconds[label] + own for label, own in washouts.items())
    return switched + (len(washouts) + 1) * window_seconds


def _largest_bias(pilot: Pilot, washouts: Mapping[str, float], window_seconds: float) -> float:
    """Return the largest bias of a pair: the sum of the two largest of configurations."""
    biases = (
        response.bias(window_seconds, washouts[label])
        for label, response in pilot.responses.items()
    )
    return sum(sorted(biases)[-2:])


def _mean_distance(pilot: Pilot, round_seconds: float, count: int) -> int:
    """Return the mean distance of two windows in bins: (count + 1) / 3 steps in random order.

    It is at most half the pilot, beyond which no pair of windows is left to estimate from.
    """
    distance = round_seconds / count * (count + 1) / 3
    return max(1, min(round(distance / pilot.bin_seconds), len(pilot.rates) // 2))


def _required_rounds(deviation: float, difference: float, level: float) -> int:
    quantiles = -normal_quantile(level / 2) + normal_quantile(_POWER)
    return max(2, math.ceil((quantiles * deviation / difference) ** 2))
