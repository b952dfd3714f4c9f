"""Schedule of a study: the next block, from the plan and the ledger's rows alone.

The Runner runs the blocks of a schedule. Because a schedule depends only on the ledger, a resumed
study continues as an uninterrupted one. No block begins after the time limit of a run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from iostudy.execution.listeners import Listener, Progress, undecided_configurations
from iostudy.ledger.given_up_workloads import GivenUpRecord
from iostudy.ledger.rows import TrialRow
from iostudy.ledger.store import Ledger
from iostudy.node.protocol import Node
from iostudy.results.comparisons import ComparisonResult, InterimAnalysis, exclude_guards
from iostudy.results.continuation import estimate_block_time
from iostudy.results.power import estimate_workload_power, format_power
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study
from iostudy.study.plan import Block, Plan


@dataclass(frozen=True)
class TimeLimit:
    """A limit of so many seconds, which ends at ``deadline`` of the monotonic clock."""

    seconds: float
    deadline: float

    @classmethod
    def start(cls, seconds: float) -> TimeLimit:
        """Return a limit that begins now."""
        return cls(seconds, time.monotonic() + seconds)

    @property
    def seconds_left(self) -> float:
        """The time that is left; 0 after the deadline."""
        return max(0.0, self.deadline - time.monotonic())

    @property
    def is_reached(self) -> bool:
        """Whether the time is used up."""
        return not self.seconds_left


NO_LIMIT = TimeLimit(math.inf, math.inf)


@dataclass(frozen=True)
class Run:
    """Where a study runs, where it is recorded, who listens, and when its last block begins."""

    node: Node
    ledger: Ledger
    listeners: Sequence[Listener] = ()
    limit: TimeLimit = NO_LIMIT

    def record_time_limit(self) -> None:
        """Record that the limit ended the study, and notify the listeners."""
        GivenUpRecord(self.ledger).add_time_limit(self.limit.seconds)
        for listener in self.listeners:
            listener.time_limit_reached(self.limit.seconds)


class Schedule(Protocol):
    """The next block and the progress of a study. ``rows`` are all rows of the ledger."""

    @property
    def seed(self) -> int:
        """The seed of the order of trials and of the data of each block."""

    def next(self, rows: Sequence[TrialRow], without: Collection[str] = ()) -> Block | None:
        """Return the next block with its undecided configurations; None at the study's end.

        The study gave up the workloads ``without`` and skips their blocks.
        """

    def configuration(self, label: str) -> Configuration:
        """Return the configuration with this label."""

    def comparisons(self, rows: Sequence[TrialRow]) -> tuple[ComparisonResult, ...]:
        """Return every comparison."""

    def progress(
        self, after: Block, rows: Sequence[TrialRow], seconds_per_trial: float
    ) -> Progress:
        """Return the progress after a block, by the mean seconds of a trial."""

    def drop(self, label: str, reason: str) -> bool:
        """Remove a configuration that always fails; return False if the study needs it."""


class PlannedSchedule:
    """The blocks of a plan in order, each with its undecided comparisons."""

    def __init__(self, study: Study, plan: Plan) -> None:
        self._study = study
        self._plan = plan
        self._interim_analysis = InterimAnalysis(study)
        self._configurations = {c.label: c for c in study.configurations()}

    @property
    def seed(self) -> int:
        return self._plan.seed

    def next(self, rows: Sequence[TrialRow], without: Collection[str] = ()) -> Block | None:
        complete = {(row.workload, row.block) for row in rows if row.counts}
        current = self._interim_analysis.compare(rows)
        for block in self._plan.blocks:
            if block.workload not in without and (block.workload, block.index) not in complete:
                undecided = undecided_configurations(self._study, block.workload, current)
                if order := tuple(label for label in block.order if label in undecided):
                    return replace(block, order=order)
        return None

    def configuration(self, label: str) -> Configuration:
        return self._configurations[label]

    def comparisons(self, rows: Sequence[TrialRow]) -> tuple[ComparisonResult, ...]:
        return self._interim_analysis.compare(rows)

    def progress(
        self, after: Block, rows: Sequence[TrialRow], seconds_per_trial: float
    ) -> Progress:
        current = self._interim_analysis.compare(rows)
        # So many trials are left if no further comparison is decided.
        counts = {
            workload.label: len(undecided_configurations(self._study, workload.label, current))
            for workload in self._study.workloads
        }
        keys = [(block.workload, block.index) for block in self._plan.blocks]
        rest = self._plan.blocks[keys.index((after.workload, after.index)) + 1 :]
        left = sum(counts[block.workload] for block in rest)
        return Progress(
            block=after,
            blocks=self._study.last_block,
            seconds_left=left * seconds_per_trial,
            comparisons=current,
            power_estimate=self._format_power_estimate(after, rows, current),
        )

    def drop(self, label: str, reason: str) -> bool:
        """Return False: the compared configurations are fixed before the first trial."""
        return False

    def _format_power_estimate(
        self, after: Block, rows: Sequence[TrialRow], current: Sequence[ComparisonResult]
    ) -> str:
        """Return the sentence after the first analysis of several; otherwise ""."""
        workload, decide = after.workload, self._study.decide
        if not after.index == decide.min_blocks < decide.max_blocks:
            return ""
        power = estimate_workload_power(self._study, workload, exclude_guards(current))
        cost = estimate_block_time(workload, rows)
        if power is None or cost is None:
            return ""
        block_seconds = cost.block_seconds(self._study.configurations())
        return f"{workload}: {format_power(power, lambda count: count * block_seconds)}"
