"""Blocks of a switchback study, and the rounds of a block of each workload.

The decision rule has one largest number of blocks for all workloads. The rounds of a block differ:
each workload divides the rounds that it needs, or that its time has room for, by that number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from iostudy.analysis.switchback.window_plan import WindowPlan

_ROUNDS_FACTOR, _FEWEST_ROUNDS = 3, 40
"""Most rounds, in units of the needed ones and absolute: a pilot may underestimate the noise."""
_FEWEST_BLOCKS, _MOST_BLOCKS = 20, 96
"""Most blocks of a study. A t interval of few blocks is wide; up to 32 each has an analysis."""


@dataclass(frozen=True)
class BlockPlan:
    """The most blocks of a study, and the rounds of a block by workload."""

    max_blocks: int
    rounds: Mapping[str, int]


def plan_blocks(plans: Mapping[str, WindowPlan]) -> BlockPlan:
    """Return the blocks of a study from the windows of its workloads, at least one."""
    totals = {label: _limit_rounds(plan) for label, plan in plans.items()}
    least = min(totals.values())
    fewest = min(_FEWEST_BLOCKS, least)
    averaged = min(totals[label] // plan.averaged_rounds for label, plan in plans.items())
    most = min(max(averaged, fewest * 3 // 2), _MOST_BLOCKS, least)
    blocks = max(range(fewest, most + 1), key=lambda own: (_used_share(totals, own), own))
    return BlockPlan(blocks, {label: total // blocks for label, total in totals.items()})


def _limit_rounds(plan: WindowPlan) -> int:
    """Return the most rounds of a workload."""
    wanted = max(_FEWEST_ROUNDS, _ROUNDS_FACTOR * plan.needed_rounds)
    return min(wanted, plan.affordable_rounds)


def _used_share(totals: Mapping[str, int], blocks: int) -> float:
    """Return the least share of the rounds of a workload that whole blocks use."""
    return min(total // blocks * blocks / total for total in totals.values())
