"""What blocks take, reckoned from the phases of the trials that a ledger holds (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iostudy.ledger.rows import TrialRow
from iostudy.study.combinations import Configuration
from iostudy.study.plan import FORMAT_PHASE, whole_plots

_OF_A_PLOT = (FORMAT_PHASE, "start", "prepare")
"""Phases of the first trial on a file system, from which the others on it gain."""


@dataclass(frozen=True)
class BlockTime:
    """Seconds of a trial of one workload with its settings, and of what is made before trials.

    The latter are file system and data, made once for all configurations that share them.
    """

    trial_seconds: float
    plot_seconds: float

    def block_seconds(self, configurations: Sequence[Configuration]) -> float:
        """What a block of these configurations takes."""
        plots = len(whole_plots(configurations))
        return len(configurations) * self.trial_seconds + plots * self.plot_seconds


def estimate_block_time(workload: str, rows: Iterable[TrialRow]) -> BlockTime | None:
    """Means over the trials of the workload that count; None where there is none yet."""
    phases = [row.phases or {} for row in rows if row.counts and row.workload == workload]
    if not phases:
        return None
    plots = max(1, sum(any(name in _OF_A_PLOT for name in each) for each in phases))
    of_plots = math.fsum(each.get(name, 0.0) for each in phases for name in _OF_A_PLOT)
    of_all = math.fsum(seconds for each in phases for seconds in each.values())
    return BlockTime((of_all - of_plots) / len(phases), of_plots / plots)
