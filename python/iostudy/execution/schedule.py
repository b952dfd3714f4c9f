"""What comes next in a study: a function of what was fixed before it and of the ledger's rows.

The Conductor runs the blocks that an agenda names and knows nothing of why it names them. Because
an agenda looks at nothing but the ledger, a resumed study goes on as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Protocol

from iostudy.execution.progress import Progress, open_order, trials_left
from iostudy.ledger.rows import TrialRow
from iostudy.results.block_time import estimate_block_time
from iostudy.results.comparisons import ComparisonResult
from iostudy.results.interim_analysis import InterimAnalysis
from iostudy.results.power import estimate_power, format_power
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study
from iostudy.study.plan import Block, Plan


class Schedule(Protocol):
    """Which block is run next, and how far the study is. ``rows`` are all of the ledger's."""

    @property
    def seed(self) -> int:
        """The seed that the order of trials, and the data of each block, are drawn from."""

    def next(self, rows: Sequence[TrialRow], without: Collection[str] = ()) -> Block | None:
        """The block to run next, its order cut to what is still open; None at the study's end.

        Blocks of the workloads ``without`` are not run: the study gave these up.
        """

    def configuration(self, label: str) -> Configuration:
        """The configuration that a block calls so."""

    def comparisons(self, rows: Sequence[TrialRow]) -> tuple[ComparisonResult, ...]:
        """Where every comparison stands."""

    def progress(
        self, after: Block, rows: Sequence[TrialRow], seconds_per_trial: float
    ) -> Progress:
        """How far the study is after a block, by what a trial has taken on average."""

    def drop(self, label: str, reason: str) -> bool:
        """Go on without a configuration that fails by itself; False where that cannot be."""


class PlannedSchedule:
    """The blocks of a plan in their order, each with the comparisons that are not decided."""

    def __init__(self, study: Study, plan: Plan) -> None:
        self._study = study
        self._plan = plan
        self._looks = InterimAnalysis(study)
        self._configurations = {each.label: each for each in study.configurations()}

    @property
    def seed(self) -> int:
        """The plan's."""
        return self._plan.seed

    def next(self, rows: Sequence[TrialRow], without: Collection[str] = ()) -> Block | None:
        """The first block that is not whole and has something open."""
        whole = {(row.workload, row.block) for row in rows if row.counts}
        current = self._looks.at(rows)
        for block in self._plan.blocks:
            if block.workload not in without and (block.workload, block.index) not in whole:
                order = open_order(self._study, block, current)
                if order:
                    return replace(block, order=order)
        return None

    def configuration(self, label: str) -> Configuration:
        """One of the study's."""
        return self._configurations[label]

    def comparisons(self, rows: Sequence[TrialRow]) -> tuple[ComparisonResult, ...]:
        """Every configuration against the baseline on every workload."""
        return self._looks.at(rows)

    def progress(
        self, after: Block, rows: Sequence[TrialRow], seconds_per_trial: float
    ) -> Progress:
        """What is left if no further comparison is decided."""
        current = self._looks.at(rows)
        left = trials_left(self._study, self._plan, after, current)
        decide = self._study.decide
        first_look = after.index == decide.min_blocks < decide.max_blocks
        return Progress(
            block=after,
            blocks=decide.max_blocks,
            seconds_left=left * seconds_per_trial,
            comparisons=current,
            outlook=self._outlook(after.workload, rows, current) if first_look else "",
        )

    def drop(self, label: str, reason: str) -> bool:
        """Never: what is compared was fixed before the first trial."""
        return False

    def _outlook(
        self, workload: str, rows: Sequence[TrialRow], current: Sequence[ComparisonResult]
    ) -> str:
        known, cost = (
            estimate_power(self._study, workload, current),
            estimate_block_time(workload, rows),
        )
        if known is None or cost is None:
            return ""
        block_seconds = cost.block_seconds(self._study.configurations())
        return f"{workload}: {format_power(known, lambda count: count * block_seconds)}"
