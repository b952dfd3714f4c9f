"""Runner of a switchback study: pilots, blocks of windows, and confirmation by whole trials."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.errors import WorkloadError
from iostudy.execution.listeners import Listener
from iostudy.execution.progress import Progress, undecided_configurations
from iostudy.execution.switchback.measure import collect, open_window
from iostudy.execution.switchback.pilot import run_pilot
from iostudy.ledger.rows import RunRow, WindowRow
from iostudy.ledger.samples import write_run_samples
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import apply_pilots
from iostudy.ledger.windows import WindowRecord
from iostudy.node.protocol import Node, SwitchedRun
from iostudy.results.comparisons import ComparisonResult, decision_rule
from iostudy.results.interim_analysis import InterimAnalysis
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import Block
from iostudy.study.switchback import draw_block
from iostudy.workloads.windows import Window, WindowCount

MAX_DISCARDED = 20
"""Blocks in a row without a figure in some window, after which the study stops."""


class SwitchbackRunner:
    """The windows of one study on one node, recorded in one ledger."""

    def __init__(
        self,
        study: Study,
        seed: int,
        node: Node,
        ledger: Ledger,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self._study = study
        self._seed = seed
        self._node = node
        self._ledger = ledger
        self._record = WindowRecord(ledger)
        self._listeners = listeners

    def plan(self) -> Study:
        """Run the missing pilots; return the study as its pilots decide it."""
        known = {pilot.workload for pilot in self._record.pilots()}
        for request in self._study.workloads:
            if request.label not in known:
                self._pilot(request)
        return apply_pilots(self._study, self._record.pilots())

    def run(self, study: Study) -> tuple[ComparisonResult, ...]:
        """Measure the blocks of a planned study that the ledger lacks; return all comparisons.

        Errors of a run stop the study; the ledger keeps all complete blocks.
        """
        windows = list(self._record.windows())
        for listener in self._listeners:
            listener.study_began(study, self._seed, len(windows))
        plans = {pilot.workload: pilot.plan for pilot in self._record.pilots()}
        analysis = InterimAnalysis(study)
        for request in study.workloads:
            plan = plans[request.label]
            assert plan is not None
            blocks = _Blocks(study, request, plan, self._seed, windows, analysis)
            if blocks.undecided():
                self._measure(blocks)
        final = analysis.compare(windows)
        for listener in self._listeners:
            listener.study_ended(final)
        return final

    def _pilot(self, request: WorkloadRequest) -> None:
        for listener in self._listeners:
            listener.pilot_began(self._study, request)
        with self._run(self._study, request) as run:
            pilot = run_pilot(self._study, request, run, self._seed)
        self._record.add_pilot(pilot)
        for listener in self._listeners:
            listener.pilot_ended(pilot)

    def _measure(self, blocks: _Blocks) -> None:
        with self._run(blocks.study, blocks.request, blocks.notes) as run:
            for rows in blocks.measure(run):
                self._record.add_block(rows)
                if blocks.is_look:
                    self._notify(blocks)

    @contextmanager
    def _run(
        self, study: Study, request: WorkloadRequest, notes: Sequence[str] = ()
    ) -> Iterator[SwitchedRun]:
        """Start a run under the baseline; record it at its end, with ``notes`` as they are then."""
        began = time.time()
        with (
            self._node.block(request, self._seed) as session,
            session.switched_run(study.configurations()) as run,
        ):
            yield run
            result = run.stop()
        self._record.add_run(
            RunRow(
                workload=request.label,
                started_at=began,
                settings=result.settings,
                devices=result.devices,
                summary=result.telemetry.summary,
                notes=(*result.notes, *notes),
                telemetry=write_run_samples(
                    self._ledger.folder, len(self._record.runs()) + 1, result.telemetry.samples
                ),
            )
        )

    def _notify(self, blocks: _Blocks) -> None:
        progress = blocks.progress()
        for listener in self._listeners:
            listener.block_ended(progress)


def final_comparisons(study: Study, record: WindowRecord) -> tuple[ComparisonResult, ...] | None:
    """Return all comparisons if no block is left to measure; otherwise None."""
    windows, pilots = record.windows(), record.pilots()
    if len(pilots) < len(study.workloads):
        return None
    current = InterimAnalysis(study).compare(windows)
    for request in study.workloads:
        done = max((row.block for row in windows if row.workload == request.label), default=0)
        undecided = undecided_configurations(study, request.label, current)
        if undecided and done < study.decide.max_blocks:
            return None
    return current


@dataclass
class _Blocks:
    """The blocks of one workload; ``windows`` are those of all workloads, and grow."""

    study: Study
    request: WorkloadRequest
    plan: WindowPlan
    seed: int
    windows: list[WindowRow]
    analysis: InterimAnalysis
    notes: list[str] = field(default_factory=list)
    _previous: str = ""
    _block: Block = field(default_factory=lambda: Block(0, "", ()))

    def __post_init__(self) -> None:
        self._looks = set(decision_rule(self.study).boundaries.looks)
        self._index = max(
            (row.block for row in self.windows if row.workload == self.request.label), default=0
        )

    @property
    def is_look(self) -> bool:
        """Whether the comparisons are analysed after the last block."""
        return self._index in self._looks

    def undecided(self) -> frozenset[str]:
        """Return the configurations of the next block; empty at the end.

        The last look decides, also for a study that was resumed after it.
        """
        if self._index >= self.study.decide.max_blocks:
            return frozenset()
        label = self.request.label
        looked = max((look for look in self._looks if look <= self._index), default=0)
        known = [row for row in self.windows if row.workload != label or row.block <= looked]
        return undecided_configurations(self.study, label, self.analysis.compare(known))

    def measure(self, run: SwitchedRun) -> Iterator[list[WindowRow]]:
        """Yield the windows of every block, as soon as they are complete."""
        undecided = self.undecided()
        while undecided:
            yield self._measure_block(run, undecided)
            if self.is_look:
                undecided = self.undecided()
            elif self._index >= self.study.decide.max_blocks:
                return

    def progress(self) -> Progress:
        """Return the progress, with the time of all remaining blocks as the upper bound."""
        block_seconds = self.plan.expected_seconds / self.plan.blocks
        left = self.study.decide.max_blocks - self._index
        return Progress(
            block=self._block,
            blocks=self.study.decide.max_blocks,
            seconds_left=left * block_seconds,
            comparisons=self.analysis.compare(self.windows),
        )

    def _measure_block(self, run: SwitchedRun, undecided: frozenset[str]) -> list[WindowRow]:
        """Measure blocks until every window of one has its figure."""
        for _ in range(MAX_DISCARDED):
            self._block = draw_block(
                self.study, self.request, self.seed, self._index + 1, tuple(undecided)
            )
            rows = self._measure_windows(run)
            if all(row.figures.get(self.request.figure.name, 0.0) > 0 for row in rows):
                self._index += 1
                self.windows += rows
                return rows
            self.notes.append(_describe_discarded(self._index + 1, self.request, rows))
        raise WorkloadError(
            f"{self.request.figure.name} in every window of {self.request.label}",
            found=f"{MAX_DISCARDED} blocks in a row have a window without it",
            where=self.request.label,
            remedy="use `decide: {mode: trials}`: the storage is too slow for windows of "
            f"{self.plan.window_seconds:.3g} s",
        )

    def _measure_windows(self, run: SwitchedRun) -> list[WindowRow]:
        """Switch every configuration in once; the next switch does not wait for the counts."""
        opened = list[Window]()
        for label in self._block.order:
            run.switch(label)
            start = run.now() + self.plan.washout_seconds[label]
            opened.append(open_window(run, start, self.plan.window_seconds))
            run.wait(opened[-1].end)
        counts = collect(run, opened)
        return [
            self._row(position, label, count)
            for position, (label, count) in enumerate(
                zip(self._block.order, counts, strict=True), start=1
            )
        ]

    def _row(self, position: int, label: str, count: WindowCount) -> WindowRow:
        window, previous, self._previous = count.window, self._previous, label
        return WindowRow(
            workload=self.request.label,
            block=self._index + 1,
            position=position,
            configuration=label,
            previous=previous,
            start=window.start + time.time() - time.monotonic(),
            seconds=window.end - window.start,
            operations=count.operations,
            figures=dict(count.figures),
        )


def _describe_discarded(index: int, request: WorkloadRequest, rows: Sequence[WindowRow]) -> str:
    name = request.figure.name
    lacking = [row.configuration for row in rows if not row.figures.get(name, 0.0) > 0]
    return f"block {index} was measured again: no {name} in a window of {', '.join(lacking)}"
