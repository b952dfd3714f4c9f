"""Blocks of windows of one workload of a switchback study."""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from iostudy.analysis.switchback.window_plan import JITTER, WindowPlan
from iostudy.errors import WorkloadError
from iostudy.execution.listeners import Progress, WindowProgress, undecided_configurations
from iostudy.execution.switchback.measure import HALVES, HalfWindow, measure_pair
from iostudy.ledger.rows import BlockRow, WindowRow, average_windows
from iostudy.node.protocol import SwitchedRun
from iostudy.results.comparisons import InterimAnalysis, decision_rule
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import Block

MAX_ATTEMPTS = 20
"""Attempts at a block, after which the study stops."""


@dataclass
class Blocks:
    """The blocks of one workload; ``rows`` are those of all workloads, and grow.

    ``notes`` describe the blocks that were measured again.
    """

    study: Study
    request: WorkloadRequest
    seed: int
    rows: list[BlockRow]
    analysis: InterimAnalysis
    notes: list[str] = field(default_factory=list)
    _block: Block = field(default_factory=lambda: Block(0, "", ()))

    def __post_init__(self) -> None:
        self._looks = set(decision_rule(self.study).boundaries_of(self.study.last_block).looks)
        own = (row.block for row in self.rows if row.workload == self.request.label)
        self._index = max(own, default=0)
        self._before = self.study.baseline.label

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

    def measure(self, run: SwitchedRun, plan: WindowPlan) -> Iterator[list[WindowRow]]:
        """Yield the windows of every block, as soon as they are complete.

        WorkloadError if `MAX_ATTEMPTS` attempts at a block do not count.
        """
        undecided = self.undecided()
        while undecided:
            yield self._measure_block(run, plan, undecided)
            if self.is_look:
                undecided = self.undecided()
            elif self._index >= self.study.last_block:
                return

    @property
    def blocks_left(self) -> int:
        """The most blocks that remain."""
        return self.study.last_block - self._index

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

    def _measure_block(
        self, run: SwitchedRun, plan: WindowPlan, undecided: frozenset[str]
    ) -> list[WindowRow]:
        """Measure the pairs of a block; again if a modelled device was late.

        A configuration without a figure in any window, or that completed nothing, counts as failed
        in this block: to measure it again would favour a configuration that stalls.
        """
        reason = ""
        for _ in range(MAX_ATTEMPTS):
            windows, reason = self._measure_pairs(run, plan, undecided)
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

    def _measure_pairs(
        self, run: SwitchedRun, plan: WindowPlan, undecided: frozenset[str]
    ) -> tuple[list[WindowRow], str]:
        """Measure the pairs of rounds of a block; return why they do not count."""
        index, windows = self._index + 1, list[WindowRow]()
        run.begin_check()
        for number in range(1, plan.pairs + 1):
            place = index, number
            order = draw_order(self.study, self.request, self.seed, place, undecided)
            length = draw_length(self.request, self.seed, place, JITTER)
            self._block = Block(index, self.request.label, order)
            halves = measure_pair(run, order, self._before, plan, length)
            self._before = order[0]
            windows += _pair_rows(self._block, number, halves)
        return windows, "; ".join(run.end_check())


def _pair_rows(block: Block, pair: int, halves: Sequence[HalfWindow]) -> Iterator[WindowRow]:
    """Yield the half windows of a pair of rounds."""
    offset = time.time() - time.monotonic()
    in_round = HALVES * len(block.order)
    for number, half in enumerate(halves):
        yield WindowRow(
            workload=block.workload,
            block=block.index,
            round=2 * pair - 1 + number // in_round,
            position=number % in_round + 1,
            configuration=half.configuration,
            previous=half.previous,
            start=half.count.window.start + offset,
            seconds=half.count.window.end - half.count.window.start,
            operations=half.count.operations,
            figures=dict(half.count.figures),
        )


def draw_order(
    study: Study,
    request: WorkloadRequest,
    seed: int,
    place: tuple[int, int],
    undecided: Collection[str],
) -> tuple[str, ...]:
    """Draw the order of the undecided configurations in the first round of a pair.

    The second round has the reverse order. ``place`` is (block, pair). The order depends on seed,
    workload and place alone, so that a resumed study continues as it would have.
    """
    labels = [own.label for own in study.configurations()]
    block, number = place
    draw = random.Random(f"{seed} {request.label} {block} {number}")
    return tuple(label for label in draw.sample(labels, len(labels)) if label in undecided)


def draw_length(
    request: WorkloadRequest, seed: int, place: tuple[int, int], jitter: float
) -> float:
    """Draw the length of the windows of a pair, relative to the planned one."""
    block, number = place
    draw = random.Random(f"{seed} {request.label} {block} {number} length")
    return draw.uniform(1 - jitter, 1 + jitter)
