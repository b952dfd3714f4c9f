"""Plans of windows from the noise of a pilot, as ledgers of earlier versions record them.

Their blocks are computed as these versions did, so that a report gives the same verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
