"""Plan of the windows of a workload: lengths, washouts and rounds, fixed before the first block.

The definitions of the settings declare that every level settles at once: a response to a switch
has a time constant tau of at most `RESPONSE_SECONDS`, and for short windows of slow storage of an
eighth of a window. An exponential response of at most a factor of ten then biases a window of
length W, which begins w after the switch, by at most

    b = ln(10) exp(-w / tau) (tau / W) (1 - exp(-W / tau)).

The washout is the w at which b is a sixteenth of the margin. Every interval is wider by the bias of
two configurations. Nothing adapts to what the windows show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
    window = 2 * operations / rehearsal.operations_per_second / (1 - JITTER)
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
