"""Duration of blocks, estimated from the phases of recorded trials (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iostudy.ledger.rows import TrialRow
from iostudy.study.combinations import Configuration
from iostudy.study.plan import FORMAT_PHASE, whole_plots

_PLOT_PHASES = (FORMAT_PHASE, "start", "prepare")
"""Phases that only the first trial on a file system has."""


@dataclass(frozen=True)
class BlockTime:
    """Seconds of a trial of one workload, and of the preparation of a whole plot.

    The latter is file system and data, made once for all configurations that share them.
    """

    trial_seconds: float
    plot_seconds: float

    def block_seconds(self, configurations: Sequence[Configuration]) -> float:
        """Return the seconds of a block of these configurations."""
        plots = len(whole_plots(configurations))
        return len(configurations) * self.trial_seconds + plots * self.plot_seconds


def estimate_block_time(workload: str, rows: Iterable[TrialRow]) -> BlockTime | None:
    """Return means over the counted trials of the workload; None without any."""
    phases = [row.phases or {} for row in rows if row.counts and row.workload == workload]
    if not phases:
        return None
    plots = max(1, sum(any(name in _PLOT_PHASES for name in trial) for trial in phases))
    plot_total = math.fsum(trial.get(name, 0.0) for trial in phases for name in _PLOT_PHASES)
    total = math.fsum(seconds for trial in phases for seconds in trial.values())
    return BlockTime((total - plot_total) / len(phases), plot_total / plots)
