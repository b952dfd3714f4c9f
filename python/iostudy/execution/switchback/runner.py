"""Runner of a switchback study: pilots, blocks of windows, and confirmation by whole trials."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from iostudy.analysis.switchback.block_plan import plan_blocks
from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.execution.listeners import Listener
from iostudy.execution.progress import undecided_configurations
from iostudy.execution.switchback.blocks import Blocks
from iostudy.execution.switchback.pilot import run_pilot
from iostudy.execution.time_limit import NO_LIMIT, TimeLimit, record_time_limit
from iostudy.ledger.rows import RunRow, average_windows
from iostudy.ledger.samples import write_run_samples
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import apply_pilots
from iostudy.ledger.windows import WindowRecord
from iostudy.node.protocol import Node, SwitchedRun
from iostudy.results.comparisons import ComparisonResult
from iostudy.results.interim_analysis import InterimAnalysis
from iostudy.study.model import Study, WorkloadRequest


class SwitchbackRunner:
    """The windows of one study on one node, recorded in one ledger."""

    def __init__(
        self,
        study: Study,
        seed: int,
        node: Node,
        ledger: Ledger,
        listeners: Sequence[Listener] = (),
        limit: TimeLimit = NO_LIMIT,
    ) -> None:
        self._study = study
        self._seed = seed
        self._node = node
        self._ledger = ledger
        self._record = WindowRecord(ledger)
        self._listeners = listeners
        self._limit = limit

    def plan(self) -> Study:
        """Run the missing pilots; return the study as its pilots decide it.

        A pilot without a plan is the last one: the study then consists of whole trials.
        """
        for request in self._study.workloads:
            pilots = self._record.pilots()
            if any(pilot.plan is None for pilot in pilots):
                break
            if request.label not in {pilot.workload for pilot in pilots}:
                self._pilot(request)
        return apply_pilots(self._study, self._record.pilots())

    def run(self, study: Study) -> tuple[ComparisonResult, ...]:
        """Measure the blocks of a planned study that the ledger lacks; return all comparisons.

        No block begins after the time limit; pilots are completed. Errors of a run stop the study;
        the ledger keeps all complete blocks.
        """
        windows = self._record.windows()
        rows = list(average_windows(windows))
        plans = _plans(self._record)
        rounds = plan_blocks(plans).rounds
        analysis = InterimAnalysis(study)
        for listener in self._listeners:
            listener.study_began(study, self._seed, len(windows), analysis.compare(rows))
        workloads = [
            Blocks(study, own, plans[own.label], rounds[own.label], self._seed, rows, analysis)
            for own in study.workloads
        ]
        pending = [blocks for blocks in workloads if blocks.undecided()]
        for number, blocks in enumerate(pending):
            if self._limit.is_reached:
                break
            later_seconds = sum(own.seconds_left for own in pending[number + 1 :])
            self._measure(blocks, later_seconds)
        if self._limit.is_reached and final_comparisons(study, self._record) is None:
            record_time_limit(self._limit, self._ledger, self._listeners)
        final = analysis.compare(rows)
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

    def _measure(self, blocks: Blocks, later_seconds: float) -> None:
        """Measure one workload; those after it take at most ``later_seconds``."""
        with self._run(blocks.study, blocks.request, blocks.notes) as run:
            self._notify_windows(blocks, later_seconds)
            for added, windows in enumerate(blocks.measure(run), start=1):
                self._record.add_block(windows)
                self._notify_windows(blocks, later_seconds)
                if blocks.is_look:
                    self._notify(blocks, later_seconds)
                if self._limit.is_reached or added == blocks.study.further_blocks:
                    break

    @contextmanager
    def _run(
        self, study: Study, request: WorkloadRequest, notes: Sequence[str] = ()
    ) -> Iterator[SwitchedRun]:
        """Start a run under the baseline; record it at its end, with ``notes`` as they are then."""
        began = time.time()
        with (
            self._node.block(request, self._seed, round_seed=self._seed) as session,
            session.switched_run(study.configurations()) as run,
        ):
            yield run
            result = run.stop()
        row = RunRow(
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
        self._record.add_run(row)
        for listener in self._listeners:
            listener.run_ended(row)

    def _notify_windows(self, blocks: Blocks, later_seconds: float) -> None:
        seconds_left = min(blocks.seconds_left + later_seconds, self._limit.seconds_left)
        progress = blocks.window_progress(seconds_left)
        for listener in self._listeners:
            listener.windows_measured(blocks.request, progress)

    def _notify(self, blocks: Blocks, later_seconds: float) -> None:
        seconds_left = min(blocks.seconds_left + later_seconds, self._limit.seconds_left)
        progress = blocks.progress(seconds_left)
        for listener in self._listeners:
            listener.block_ended(progress)


def final_comparisons(study: Study, record: WindowRecord) -> tuple[ComparisonResult, ...] | None:
    """Return all comparisons if no block is left to measure; otherwise None."""
    rows = average_windows(record.windows())
    plans = _plans(record)
    if len(plans) < len(study.workloads):
        return None
    current = InterimAnalysis(study).compare(rows)
    for request in study.workloads:
        done = max((row.block for row in rows if row.workload == request.label), default=0)
        undecided = undecided_configurations(study, request.label, current)
        if undecided and done < study.last_block:
            return None
    return current


def _plans(record: WindowRecord) -> dict[str, WindowPlan]:
    """Return the plans of the workloads whose pilot has one."""
    return {own.workload: own.plan for own in record.pilots() if own.plan is not None}
