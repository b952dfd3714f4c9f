"""Duration of blocks, and the blocks that would probably decide the rest of a study (pure)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from iostudy.ledger.rows import TrialRow, WindowRow
from iostudy.results.comparisons import ComparisonResult, decision_rule, exclude_bounds
from iostudy.results.recommendation import is_met_guard
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study
from iostudy.study.plan import FORMAT_PHASE, whole_plots


@dataclass(frozen=True)
class ContinuationEstimate:
    """The ``blocks`` that each undecided workload probably needs, and the seconds of all."""

    blocks: int
    seconds: float


def estimate_continuation(
    study: Study,
    compared: Sequence[ComparisonResult],
    trials: Sequence[TrialRow],
    windows: Sequence[WindowRow],
) -> ContinuationEstimate | None:
    """Estimate what decides every undecided comparison, at its noise so far.

    None if nothing is undecided, if the noise or the time of a block is unknown, or if the last
    stage of the study ends before.
    """
    blocks, seconds = 0, 0.0
    for workload in study.workloads:
        undecided = [
            result
            for result in exclude_bounds(compared)
            if result.workload == workload.label
            and not (result.comparison.verdict.is_final or is_met_guard(study, result))
        ]
        if not undecided:
            continue
        needed = [result.comparison.blocks_needed or math.inf for result in undecided]
        block_seconds = _block_seconds(study, undecided, trials, windows)
        if block_seconds is None or max(needed) > decision_rule(study).longest:
            return None
        further = max(
            int(number) - result.comparison.blocks
            for number, result in zip(needed, undecided, strict=True)
        )
        blocks, seconds = max(blocks, further), seconds + further * block_seconds
    return ContinuationEstimate(blocks, seconds) if blocks else None


def _block_seconds(
    study: Study,
    undecided: Sequence[ComparisonResult],
    trials: Sequence[TrialRow],
    windows: Sequence[WindowRow],
) -> float | None:
    """The seconds of a block of these comparisons of one workload; None if unknown."""
    workload = undecided[0].workload
    starts = {row.block: row.start for row in reversed(windows) if row.workload == workload}
    if starts:
        steps = [after - before for before, after in pairwise(sorted(starts.values()))]
        return statistics.median(steps) if steps else None
    labels = {study.baseline.label, *(result.configuration for result in undecided)}
    time = estimate_block_time(workload, trials)
    configurations = [choice for choice in study.configurations() if choice.label in labels]
    return None if time is None else time.block_seconds(configurations)


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
