"""Runner of the windows of a switchback study."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from iostudy.analysis.switchback.window_plan import (
    HALVES,
    RISK_SHARE,
    WindowPlan,
    list_unsettled,
    plan_windows,
)
from iostudy.execution.listeners import Progress, undecided_configurations
from iostudy.execution.schedule import Run
from iostudy.execution.switchback.blocks import Blocks, rehearse
from iostudy.ledger.rows import PlanRow, RunRow, TrialRow, WindowRow, average_windows
from iostudy.ledger.samples import write_samples
from iostudy.ledger.windows import WindowRecord
from iostudy.node.protocol import RunResult, SwitchedRun
from iostudy.results.comparisons import ComparisonResult, InterimAnalysis, decision_rule
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.plan import Block
from iostudy.workloads.windows import required_for_figure


class SwitchbackRunner:
    """The windows of one study on one node, recorded in one ledger."""

    def __init__(self, study: Study, run: Run) -> None:
        self._study = study
        self._seed = run.ledger.study().seed
        self._study_run = run
        self._ledger, self._listeners, self._limit = run.ledger, run.listeners, run.limit
        self._record = WindowRecord(run.ledger)

    def run(self) -> tuple[ComparisonResult, ...]:
        """Measure the blocks that the ledger lacks; return all comparisons.

        No block begins after the time limit. Errors of a run stop the study; the ledger keeps all
        complete blocks. A plan that is none ends the windows: the study then consists of whole
        trials. So does the first level that is found unsettled after the last block.
        """
        windows = self._record.windows()
        rows = list(average_windows(windows))
        analysis, recorded = InterimAnalysis(self._study), len(windows) // HALVES
        for listener in self._listeners:
            listener.study_began(self._study, self._seed, recorded, analysis.compare(rows))
        for request in self._study.workloads:
            blocks = Blocks(self._study, request, self._seed, rows, analysis)
            if blocks.undecided() and not self._limit.is_reached and self._record.can_decide():
                self._measure(blocks)
        current = final_comparisons(self._study, self._record)
        if current is None and self._limit.is_reached:
            self._study_run.record_time_limit()
        if current is not None:
            self._check_settling()
        final = analysis.compare(rows)
        if self._record.can_decide():
            for listener in self._listeners:
                listener.study_ended(final)
        return final

    def _measure(self, blocks: Blocks) -> None:
        with self._run(blocks.request, blocks.notes) as run:
            plan = self._plan(blocks.request, run)
            if plan is None:
                return
            self._notify_windows(blocks, plan)
            for added, windows in enumerate(blocks.measure(run, plan), start=1):
                self._record.add_block(windows)
                self._notify_windows(blocks, plan)
                if blocks.is_look:
                    progress = blocks.progress(self._seconds_left(blocks, plan))
                    for listener in self._listeners:
                        listener.block_ended(progress)
                if self._limit.is_reached or added == self._study.further_blocks:
                    break

    def _plan(self, request: WorkloadRequest, run: SwitchedRun) -> WindowPlan | None:
        """Return the recorded plan of the windows, or make and record one; None without any."""
        for entry in self._record.plans():
            if entry.workload == request.label and isinstance(entry.plan, WindowPlan):
                return entry.plan
        labels = [configuration.label for configuration in self._study.configurations()]
        rehearsal = rehearse(run, labels)
        operations = required_for_figure(request.figure.name)
        decide = self._study.decide
        delta = decision_rule(self._study).delta
        plan = plan_windows(rehearsal, len(labels), delta, operations, decide.time)
        reason = (
            f"{request.label}: the slowest configuration completes "
            f"{rehearsal.operations_per_second:.2g} operations a second, and half a window needs "
            f"{operations}"
        )
        self._add_plan(PlanRow(request.label, plan, "" if plan else reason))
        return plan

    def _check_settling(self) -> None:
        """Record the configurations whose windows show a response to the switch."""
        rule = decision_rule(self._study)
        level = RISK_SHARE * self._study.decide.risk / len(self._study.workloads)
        windows = self._record.windows()
        for request in self._study.workloads:
            increments = collect_increments(windows, request)
            unsettled = list_unsettled(increments, rule.delta, level)
            if unsettled:
                verb = "does" if len(unsettled) == 1 else "do"
                reason = (
                    f"{request.label}: {', '.join(unsettled)} {verb} not settle after a switch: "
                    "the rate still changes within a window"
                )
                self._add_plan(PlanRow(f"{request.label} after the windows", None, reason))

    def _add_plan(self, plan: PlanRow) -> None:
        self._record.add_plan(plan)
        for listener in self._listeners:
            listener.windows_planned(plan)

    @contextmanager
    def _run(self, request: WorkloadRequest, notes: Sequence[str]) -> Iterator[SwitchedRun]:
        """Start a run under the baseline; record it after its end, with ``notes`` as they are then.

        So is a run that an error or a signal ends, because its complete blocks decide.
        """
        began = time.time()
        run: SwitchedRun | None = None
        try:
            with (
                self._study_run.node.block(request, self._seed, round_seed=self._seed) as session,
                session.switched_run(self._study.configurations()) as run,
            ):
                yield run
        except BaseException as error:
            if run is not None:
                with suppress(Exception):  # what ended the run takes precedence
                    signal = "" if isinstance(error, Exception) else str(error)
                    reason = f"ended by {signal or type(error).__name__}"
                    self._record_run(request, began, run.stop(), (*notes, reason))
            raise
        self._record_run(request, began, run.stop(), notes)

    def _record_run(
        self, request: WorkloadRequest, began: float, result: RunResult, notes: Sequence[str]
    ) -> None:
        row = RunRow(
            workload=request.label,
            started_at=began,
            settings=result.settings,
            devices=result.devices,
            summary=result.telemetry.summary,
            notes=(*result.notes, *notes),
            telemetry=write_samples(
                self._ledger.folder,
                len(self._record.runs()) + 1,
                result.telemetry.samples,
                is_run=True,
            ),
        )
        self._record.add_run(row)
        for listener in self._listeners:
            listener.run_ended(row)

    def _notify_windows(self, blocks: Blocks, plan: WindowPlan) -> None:
        progress = blocks.window_progress(self._seconds_left(blocks, plan))
        for listener in self._listeners:
            listener.windows_measured(blocks.request, progress)

    def _seconds_left(self, blocks: Blocks, plan: WindowPlan) -> float:
        """Return an upper bound; workloads without a plan are assumed to take the planned time."""
        labels = [workload.label for workload in self._study.workloads]
        later = len(labels) - 1 - labels.index(blocks.request.label)
        seconds = blocks.blocks_left * plan.block_seconds
        return min(seconds + later * self._study.decide.time, self._limit.seconds_left)


def collect_increments(
    windows: Sequence[WindowRow], request: WorkloadRequest
) -> dict[str, list[float]]:
    """Collect the mean log-ratio of the halves of the windows after a switch, by block."""
    figures: dict[str, dict[int, list[float]]] = {}
    for first, second in pairwise(row for row in windows if row.workload == request.label):
        configuration = first.configuration
        values = [row.figures.get(request.figure.name, 0.0) for row in (first, second)]
        if first.previous != configuration and second.previous == configuration and min(values) > 0:
            blocks = figures.setdefault(configuration, {})
            blocks.setdefault(first.block, []).append(math.log(values[1] / values[0]))
    return {label: [fmean(block) for block in blocks.values()] for label, blocks in figures.items()}


def final_comparisons(study: Study, record: WindowRecord) -> tuple[ComparisonResult, ...] | None:
    """Return all comparisons if no block is left to measure; otherwise None."""
    rows = average_windows(record.windows())
    current = InterimAnalysis(study).compare(rows)
    for request in study.workloads:
        done = max((row.block for row in rows if row.workload == request.label), default=0)
        undecided = undecided_configurations(study, request.label, current)
        if undecided and done < study.last_block:
            return None
    return current


CONFIRMATION_BLOCKS = 5
"""A t interval of five pairs is 2.8 standard errors wide on each side, of three 4.3."""


@dataclass(frozen=True)
class ConfirmationSchedule:
    """A schedule of blocks of whole trials under the baseline and the confirmed configurations.

    ``labels`` are these configurations by workload. The trials decide nothing, so `comparisons`
    returns those of the windows.
    """

    study: Study
    labels: Mapping[str, Sequence[str]]
    seed: int
    decided: tuple[ComparisonResult, ...]

    def next(self, rows: Sequence[TrialRow], without: Collection[str] = ()) -> Block | None:
        complete = {(row.workload, row.block) for row in rows if row.counts}
        for index in range(1, CONFIRMATION_BLOCKS + 1):
            for workload in self.labels:
                if workload not in without and (workload, index) not in complete:
                    labels = [self.study.baseline.label, *self.labels[workload]]
                    draw = random.Random(f"{self.seed} {workload} {index} confirmation")
                    return Block(index, workload, tuple(draw.sample(labels, len(labels))))
        return None

    def configuration(self, label: str) -> Configuration:
        return next(c for c in self.study.configurations() if c.label == label)

    def comparisons(self, rows: Sequence[TrialRow]) -> tuple[ComparisonResult, ...]:
        return self.decided

    def progress(
        self, after: Block, rows: Sequence[TrialRow], seconds_per_trial: float
    ) -> Progress:
        done = {(row.workload, row.block) for row in rows if row.counts}
        left = sum(
            1 + len(names)
            for workload, names in self.labels.items()
            for index in range(1, CONFIRMATION_BLOCKS + 1)
            if (workload, index) not in done
        )
        return Progress(after, left * seconds_per_trial, CONFIRMATION_BLOCKS, self.decided)

    def drop(self, label: str, reason: str) -> bool:
        """Return False: the confirmed configurations are fixed before the first trial."""
        return False
