"""Blocks of windows of one workload of a switchback study, and their measurement.

On a busy host this process may wait for a CPU between two calls for longer than a window. A window
that would start in the past is therefore requested again, later.
"""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from iostudy.analysis.switchback.window_plan import HALVES, JITTER, Rehearsal, WindowPlan
from iostudy.errors import WorkloadError
from iostudy.execution.listeners import Progress, WindowProgress, undecided_configurations
from iostudy.ledger.rows import BlockRow, WindowRow, average_windows
from iostudy.node.protocol import SwitchedRun
from iostudy.results.comparisons import InterimAnalysis, decision_rule
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import Block
from iostudy.workloads.windows import Window, WindowCount

_POLL_SECONDS = 0.005
_PATIENCE_SECONDS = 60.0
"""Longest time for the operations in flight at the end of a window."""
_LEAD_SECONDS = 0.002
_LONGEST_LEAD_SECONDS = 10.0
"""Shortest and longest time from a request to the start of its window."""
_WARM_UP_SECONDS = 0.5
_REHEARSALS, _REHEARSAL_SECONDS = 2, 0.2
"""Times that a rehearsal counts each configuration, and the length of each."""


@dataclass(frozen=True)
class HalfWindow:
    """The counts of half a window; ``previous`` is the configuration before it."""

    configuration: str
    previous: str
    count: WindowCount


def rehearse(run: SwitchedRun, labels: Sequence[str]) -> Rehearsal:
    """Switch every configuration in a few times, and return what a plan needs.

    The rate is that of the slowest configuration. One operation stands for none.
    """
    run.wait(run.now() + _WARM_UP_SECONDS)
    operations, switches = dict.fromkeys(labels, 0), list[float]()
    for _ in range(_REHEARSALS):
        for label in (*labels[1:], labels[0]):
            began = run.now()
            run.switch(label)
            switches.append(run.now() - began)
            *_, count = collect(run, _open(run, run.now(), _REHEARSAL_SECONDS, 1))
            run.verify()
            operations[label] += count.operations
    rate = max(1, min(operations.values())) / (_REHEARSALS * _REHEARSAL_SECONDS)
    # The first switches also read what they have to write.
    return Rehearsal(rate, sum(switches[len(labels) :]) / len(switches[len(labels) :]))


def measure_pair(
    run: SwitchedRun, order: Sequence[str], before: str, plan: WindowPlan, length: float
) -> tuple[HalfWindow, ...]:
    """Measure a round in this order and one in the reverse order; return the half windows.

    ``before`` is in force, and ``length`` is that of the windows relative to the plan. The last
    configuration of the first round is the first of the second, so that it stays in force for both
    of its windows. Nothing but writing and reading back separates a window from the next washout.
    """
    requested, labels = list[Window](), list[str]()
    seconds = length * plan.window_seconds / HALVES
    for label, stay in groupby([*order, *reversed(order)]):
        run.switch(label)
        start, count = run.now() + plan.washout_seconds, HALVES * len(list(stay))
        opened = _open(run, start, seconds, count)
        requested += opened
        run.wait(opened[-1].end)
        run.verify()
        labels += [""] * (len(opened) - count) + [label] * count
    halves = list[HalfWindow]()
    for label, counted in zip(labels, collect(run, requested), strict=True):
        if label:
            halves.append(HalfWindow(label, before, counted))
            before = label
    return tuple(halves)


def _open(run: SwitchedRun, start: float, seconds: float, count: int) -> list[Window]:
    """Open contiguous windows of equal length from this time on, or as soon as possible after.

    Only the last ``count`` of the returned ones are contiguous: others were opened too late.
    """
    lead, opened = _LEAD_SECONDS, list[Window]()
    while True:
        edges = [start + number * seconds for number in range(count + 1)]
        try:
            for window in map(Window, edges[:-1], edges[1:]):
                run.meter.open(window)
                opened.append(window)
        except ValueError:
            if lead > _LONGEST_LEAD_SECONDS:
                raise
            start = max([run.now() + lead, *(window.end for window in opened[-1:])])
            lead *= 2
        else:
            return opened


def collect(run: SwitchedRun, windows: list[Window]) -> list[WindowCount]:
    """Wait for the end of opened windows and return their counts.

    WorkloadError if the run ends, or if an operation takes longer than a minute.
    """
    if windows:
        run.wait(windows[-1].end)
    completed = list(run.meter.completed())
    deadline = run.now() + _PATIENCE_SECONDS
    while len(completed) < len(windows):
        if run.now() > deadline:
            raise WorkloadError(
                "the counts of a window",
                found=f"an operation has not completed for {_PATIENCE_SECONDS:g} s",
                where="the workload",
                remedy="see dmesg for errors of the device",
            )
        run.wait(run.now() + _POLL_SECONDS)
        completed += run.meter.completed()
    return completed


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
        blocks_run = (row.block for row in self.rows if row.workload == self.request.label)
        self._index = max(blocks_run, default=0)
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
        earlier = [row for row in self.rows if row.workload != label or row.block <= looked]
        return undecided_configurations(self.study, label, self.analysis.compare(earlier))

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
            key = index, number
            order = draw_order(self.study, self.request, self.seed, key, undecided)
            length = draw_length(self.request, self.seed, key)
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
    labels = [configuration.label for configuration in study.configurations()]
    block, number = place
    draw = random.Random(f"{seed} {request.label} {block} {number}")
    return tuple(label for label in draw.sample(labels, len(labels)) if label in undecided)


def draw_length(request: WorkloadRequest, seed: int, place: tuple[int, int]) -> float:
    """Draw the length of the windows of a pair, relative to the planned one."""
    block, number = place
    draw = random.Random(f"{seed} {request.label} {block} {number} length")
    return draw.uniform(1 - JITTER, 1 + JITTER)
