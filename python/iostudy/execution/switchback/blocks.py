"""Blocks of windows of one workload of a switchback study."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.errors import WorkloadError
from iostudy.execution.progress import Progress, WindowProgress, undecided_configurations
from iostudy.execution.switchback.measure import measure_round
from iostudy.ledger.rows import BlockRow, WindowRow, average_windows
from iostudy.node.protocol import SwitchedRun
from iostudy.results.comparisons import decision_rule
from iostudy.results.interim_analysis import InterimAnalysis
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import Block
from iostudy.study.switchback import draw_order
from iostudy.workloads.windows import WindowCount

MAX_ATTEMPTS = 20
"""Attempts at a block, after which the study stops."""


@dataclass
class Blocks:
    """The blocks of one workload; ``rows`` are those of all workloads, and grow.

    A block has so many ``rounds``. ``notes`` describe the blocks that were measured again.
    """

    study: Study
    request: WorkloadRequest
    plan: WindowPlan
    rounds: int
    seed: int
    rows: list[BlockRow]
    analysis: InterimAnalysis
    notes: list[str] = field(default_factory=list)
    _block: Block = field(default_factory=lambda: Block(0, "", ()))

    def __post_init__(self) -> None:
        self._looks = set(decision_rule(self.study).boundaries_of(self.study.last_block).looks)
        own = (row.block for row in self.rows if row.workload == self.request.label)
        self._index = max(own, default=0)

    @property
    def is_look(self) -> bool:
        """Whether the comparisons are analysed after the last block."""
        return self._index in self._looks

    def undecided(self) -> frozenset[str]:
        """Return the configurations of the next block; empty at the end.

        The last look decides, also for a study that was resumed after it.
        """
        if self._index >= self.study.last_block:
            return frozenset()
        label = self.request.label
        looked = max((look for look in self._looks if look <= self._index), default=0)
        known = [row for row in self.rows if row.workload != label or row.block <= looked]
        return undecided_configurations(self.study, label, self.analysis.compare(known))

    def measure(self, run: SwitchedRun) -> Iterator[list[WindowRow]]:
        """Yield the windows of every block, as soon as they are complete.

        WorkloadError if `MAX_ATTEMPTS` attempts at a block do not count.
        """
        undecided = self.undecided()
        while undecided:
            yield self._measure_block(run, undecided)
            if self.is_look:
                undecided = self.undecided()
            elif self._index >= self.study.last_block:
                return

    @property
    def seconds_left(self) -> float:
        """An upper bound: the time of all remaining blocks."""
        block_seconds = self.rounds * self.plan.round_seconds
        return (self.study.last_block - self._index) * block_seconds

    def window_progress(self, seconds_left: float) -> WindowProgress:
        """Return the progress after any block."""
        return WindowProgress(
            done=self._index,
            blocks=self.study.last_block,
            seconds_left=seconds_left,
            comparisons=self.analysis.compare(self.rows),
        )

    def progress(self, seconds_left: float) -> Progress:
        """Return the progress after an analysis."""
        return Progress(
            block=self._block,
            blocks=self.study.last_block,
            seconds_left=seconds_left,
            comparisons=self.analysis.compare(self.rows),
        )

    def _measure_block(self, run: SwitchedRun, undecided: frozenset[str]) -> list[WindowRow]:
        """Measure the rounds of a block; again if a modelled device was late.

        A configuration without a figure in any window, or that completed nothing, counts as failed
        in this block: to measure it again would favour a configuration that stalls.
        """
        reason = ""
        for _ in range(MAX_ATTEMPTS):
            windows, reason = self._measure_rounds(run, undecided)
            if not reason:
                self._index += 1
                self.rows += average_windows(windows)
                return windows
            self.notes.append(f"block {self._index + 1} was measured again: {reason}")
        raise WorkloadError(
            f"a block of {self.request.label} that counts",
            found=f"{MAX_ATTEMPTS} attempts do not: {reason}",
            where=self.request.label,
            remedy="use a quiet machine, so that modelled drives are in time",
        )

    def _measure_rounds(
        self, run: SwitchedRun, undecided: frozenset[str]
    ) -> tuple[list[WindowRow], str]:
        """Measure the rounds of a block; return why they do not count."""
        index, windows = self._index + 1, list[WindowRow]()
        for number in range(1, self.rounds + 1):
            order = draw_order(self.study, self.request, self.seed, (index, number), undecided)
            self._block = Block(index, self.request.label, order)
            measured = measure_round(run, order, self.plan)
            windows += _round_rows(self._block, number, measured.counts)
            if measured.invalid_reasons:
                return windows, "; ".join(measured.invalid_reasons)
        return windows, ""


def _round_rows(block: Block, number: int, counts: Sequence[WindowCount]) -> Iterator[WindowRow]:
    """Yield the windows of a round; the first one follows its own configuration."""
    before = (block.order[0], *block.order[:-1])
    offset = time.time() - time.monotonic()
    for position, (count, label, previous) in enumerate(
        zip(counts, block.order, before, strict=True), start=1
    ):
        yield WindowRow(
            workload=block.workload,
            block=block.index,
            round=number,
            position=position,
            configuration=label,
            previous=previous,
            start=count.window.start + offset,
            seconds=count.window.end - count.window.start,
            operations=count.operations,
            figures=dict(count.figures),
        )
