"""Ratios of one run with their intervals, compared with a goal."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from iostudy.analysis.paired import PairedRuns, mean_interval

_RISK = 0.05


def format_ratio(peer: str, peers: Sequence[float], ours: Sequence[float], goal: float) -> str:
    """Rates of ``ours`` over those of the ``peer``, taken within each round.

    The ratio of the geometric means, its interval at a risk of 5 %, and what it says of the goal,
    as far as these rounds can show.
    """
    ratio = statistics.geometric_mean(ours) / statistics.geometric_mean(peers)
    changes = PairedRuns.from_figures(peers, ours, higher_is_better=True).differences
    low, high = (1 + end for end in mean_interval(changes, _RISK).as_fractions())
    interval = f"{ratio:.3f} [{low:.3f}, {high:.3f}] to {peer}"
    return f"{interval:36}  {_judge(low, high, goal)}"


def _judge(low: float, high: float, goal: float) -> str:
    if low >= goal:
        return f"at least {goal}"
    return f"below {goal}" if high < goal else f"{goal} lies within"
