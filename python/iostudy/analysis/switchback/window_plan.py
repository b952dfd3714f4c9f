"""Plan of the windows of a workload before the first block, and the test that they settle.

The definitions of the settings declare that every level settles at once: a response to a switch
has a time constant tau of at most `RESPONSE_SECONDS`, and for short windows of slow storage of an
eighth of a window. An exponential response of at most a factor of ten then biases a window of
length W, which begins w after the switch, by at most

    b = ln(10) exp(-w / tau) (tau / W) (1 - exp(-W / tau)).

The washout is the w at which b is a sixteenth of the margin. Every interval is wider by the bias of
two configurations. Nothing adapts to what the windows show.

Blocks of earlier plans are computed as their versions did, so that a report gives the same
verdicts.

A window has two halves. Their log-ratio is an increment within a window: a difference of levels
does not change it, so that the test does not select among verdicts. For a level that has settled
its mean is zero. A response whose time constant is a window changes the halves by half the bias of
the window; a faster one by more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iostudy.analysis.distributions import t_quantile

RESPONSE_SECONDS = 0.005
"""Largest time constant of a level that settles at once.

Nothing adapts, and requests from before the switch are done in this time.
"""
BIAS_SHARE = 1 / 8
"""The largest bias of a comparison, in margins."""
FEWEST_BLOCKS = 10
"""Blocks of the first analysis; a t interval of fewer is wide and sensitive."""
JITTER = 0.2
"""Largest change of the length of a window, as a share, from one pair of rounds to another.

A limiter that refills at equal intervals would otherwise favour some windows.
"""
HALVES = 2
"""Parts of a window, which a test of its settling compares."""
_SHORTEST_SECONDS, _LONGEST_SECONDS = 0.04, 2.0
"""Shortest and longest window. The noise of usual disks hardly falls with the length."""
_BLOCKS_PER_SECOND = 1.6
_PLANNED_BLOCKS = (20, 384)
"""Planned blocks by the time of the windows, and the least and the most of them."""
_FEWEST_PAIRS = 2
"""Fewest pairs of rounds of a block.

The log of a mean of G windows of relative deviation s is biased by -s^2 / (2 G).
"""
_LARGEST_AMPLITUDE = math.log(10)
"""Largest response to a switch, as a log-ratio: no setting starts ten times slower or faster."""


@dataclass(frozen=True)
class WindowPlan:
    """The windows of a workload: one length for all, and one washout after each switch.

    A block has so many ``pairs`` of rounds, each of which takes ``pair_seconds``.
    """

    window_seconds: float
    washout_seconds: float
    pair_seconds: float
    pairs: int

    @property
    def block_seconds(self) -> float:
        """The duration of a block."""
        return self.pairs * self.pair_seconds


@dataclass(frozen=True)
class Rehearsal:
    """The rate of the slowest configuration, and the mean duration of a switch."""

    operations_per_second: float
    switch_seconds: float


def count_blocks(seconds: float) -> int:
    """Return the planned blocks of windows that take so long; they become longer beyond the most.

    They depend on nothing measured: a number that follows the noise would break the bound of risk.
    """
    least, most = _PLANNED_BLOCKS
    return min(most, max(least, round(_BLOCKS_PER_SECOND * seconds)))


def plan_windows(
    rehearsal: Rehearsal, configurations: int, margin: float, operations: int, seconds: float
) -> WindowPlan | None:
    """Plan windows whose halves have so many operations; None if these would be too long.

    ``margin`` is a log-ratio. The planned blocks take about so many ``seconds``.
    """
    window = HALVES * operations / rehearsal.operations_per_second / (1 - JITTER)
    if window > _LONGEST_SECONDS:
        return None
    window = max(window, _SHORTEST_SECONDS)
    washout = compute_washout(window, margin * BIAS_SHARE / 2)
    switches = 2 * configurations - 1
    pair = switches * (rehearsal.switch_seconds + washout) + 2 * configurations * window
    pairs = max(_FEWEST_PAIRS, round(seconds / count_blocks(seconds) / pair))
    return WindowPlan(window, washout, pair, pairs)


def compute_washout(window_seconds: float, tolerance: float) -> float:
    """Return the washout at which the bias of the shortest such window is at most a log-ratio."""
    shortest = (1 - JITTER) * window_seconds
    constant = max(RESPONSE_SECONDS, window_seconds / 8)
    share = constant / shortest * -math.expm1(-shortest / constant)
    return constant * max(0.0, math.log(_LARGEST_AMPLITUDE * share / tolerance))


_ROUNDS_FACTOR, _FEWEST_ROUNDS = 3, 40
_FEWEST_BLOCKS, _MOST_BLOCKS = 20, 96


@dataclass(frozen=True)
class EarlierPlan:
    """The recorded fields that a report needs; ``bias`` is a log-ratio."""

    window_seconds: float
    washout_seconds: Mapping[str, float]
    bias: float
    needed_rounds: int
    affordable_rounds: int
    averaged_rounds: int

    @property
    def most_rounds(self) -> int:
        """The most rounds of the workload."""
        return min(max(_FEWEST_ROUNDS, _ROUNDS_FACTOR * self.needed_rounds), self.affordable_rounds)


def count_earlier_blocks(plans: Sequence[EarlierPlan]) -> int:
    """Return the most blocks of a study with these workloads, at least one."""
    totals = [plan.most_rounds for plan in plans]
    least = min(totals)
    fewest = min(_FEWEST_BLOCKS, least)
    averaged = min(plan.most_rounds // plan.averaged_rounds for plan in plans)
    most = min(max(averaged, fewest * 3 // 2), _MOST_BLOCKS, least)

    def used_share(blocks: int) -> float:
        return min(total // blocks * blocks / total for total in totals)

    return max(range(fewest, most + 1), key=lambda blocks: (used_share(blocks), blocks))


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
        for label, values in increments.items()
        if len(values) >= _FEWEST and _certain_change(values, own_level) > TOLERANCE * margin
    )


def _certain_change(increments: Sequence[float], level: float) -> float:
    """Return the smallest absolute value in the two-sided t interval of the mean."""
    count = len(increments)
    half = -float(t_quantile(count - 1, level / 2)) * np.std(increments, ddof=1) / math.sqrt(count)
    return float(abs(np.mean(increments)) - half)
