"""Runner of a study: runs the scheduled blocks and repeats each until it counts.

A trial goes from STARTED to FINISHED, FAILED, INVALID or INTERRUPTED.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from iostudy.analysis.spending import AnalysisMethod
from iostudy.errors import (
    IostudyError,
    LedgerError,
    NotReadyError,
    RecordError,
    RestoreError,
    TrialError,
    WorkloadError,
    WorkloadStoppedError,
)
from iostudy.execution.schedule import Run, Schedule
from iostudy.execution.validity import (
    exceeds_limits,
    explain_disturbance,
    explain_unusable_figures,
    foreign_io_share,
    note_unchecked_limits,
)
from iostudy.ledger.given_up_workloads import GivenUpRecord, GivenUpWorkload
from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.ledger.samples import write_samples
from iostudy.ledger.store import Ledger
from iostudy.node.protocol import BlockSession
from iostudy.results.comparisons import ComparisonResult
from iostudy.study.combinations import Configuration
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.study.plan import Block
from iostudy.study.sections import Validity
from iostudy.telemetry.covariates import FOREIGN_FIGURE
from iostudy.workloads.definition import Figure


def run_trial(
    ledger: Ledger,
    session: BlockSession,
    limits: Validity,
    row: TrialRow,
    configuration: Configuration,
    figures: Sequence[Figure],
) -> TrialRow:
    """Run the trial that ``row`` describes; return its final row in the ledger.

    A trial does not raise if its workload fails or has one of the verdict ``figures`` that cannot
    be compared: it is FAILED, with the reason. It is INVALID if it exceeds a limit or fails outside
    the workload. RestoreError, RecordError and signals must stop the study; they are recorded and
    raised again.
    """
    row = replace(row, id=ledger.begin(row), status=TrialStatus.STARTED)
    try:
        result = session.trial(configuration)
        summary, foreign = result.telemetry.summary, foreign_io_share(result)
        figure = {} if foreign is None else {FOREIGN_FIGURE: 100 * foreign}
        disturbance = explain_disturbance(result, limits)
        failure = explain_unusable_figures(result.figures, figures)
        status = TrialStatus.FAILED if failure else TrialStatus.FINISHED
        ended = replace(
            row,
            status=TrialStatus.INVALID if disturbance else status,
            reason=disturbance or failure,
            figures=dict(result.figures),
            settings=dict(result.settings),
            devices=result.devices,
            summary=replace(summary, machine={**summary.machine, **figure}),
            phases=dict(result.phases),
            notes=(*result.notes, *note_unchecked_limits(result, limits)),
            latencies=dict(result.latencies),
            parts=result.parts,
            telemetry=write_samples(ledger.folder, row.id, result.telemetry.samples),
        )
    except RestoreError as error:
        ledger.finish(_invalid_row(row, error))
        raise
    except TrialError as error:
        ended = _invalid_row(row, error)
        if isinstance(error, WorkloadError) and not isinstance(error, WorkloadStoppedError):
            ended = replace(ended, status=TrialStatus.FAILED)
    except BaseException as error:
        reason = f"ended by {type(error).__name__}"
        # A ledger that cannot be written must not hide the error that ended the trial.
        with suppress(LedgerError, RecordError):
            ledger.finish(replace(row, status=TrialStatus.INTERRUPTED, reason=reason))
        raise
    ledger.finish(ended)
    return ended


def _invalid_row(row: TrialRow, error: IostudyError) -> TrialRow:
    reason = f"{error.wanted}, but {error.found}"
    return replace(row, status=TrialStatus.INVALID, reason=reason)


INTERRUPTED = "iostudy ended before this trial did"
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 5.0, 60.0
"""The first and the longest pause before another attempt; each doubles the previous one."""


@dataclass(frozen=True)
class Attempt:
    """An attempt at a block; ``reason`` explains why it does not count, empty if it counts.

    ``began`` is False if the node was not ready for the block.
    """

    rows: Sequence[TrialRow]
    reason: str = ""
    began: bool = True

    def is_disturbed(self, limits: Validity) -> bool:
        """Return whether its last trial exceeded a limit, so that a pause may help."""
        summary = self.rows[-1].summary if self.rows else None
        return bool(self.reason) and summary is not None and exceeds_limits(summary, limits)

    @property
    def failed_configuration(self) -> str:
        """The label of the last configuration if its workload failed; otherwise empty."""
        return self.rows[-1].configuration if self.rows and self.rows[-1].figures is None else ""


class Runner:
    """One study on one node, recorded in one ledger."""

    def __init__(self, study: Study, schedule: Schedule, run: Run) -> None:
        self._study = study
        self._schedule = schedule
        self._run = run
        self._ledger, self._listeners, self._limit = run.ledger, run.listeners, run.limit
        self._requests = {w.label: w for w in study.workloads}
        self._given_up = GivenUpRecord(run.ledger)
        self._waiting = set[str]()
        self._rows: list[TrialRow] = []
        self._seconds = 0.0
        self._trials = 0
        self._added = Counter[str]()
        # A search and a screening need the figures of all trials of a block. So did the verdicts
        # of earlier ledgers.
        failures_count = (
            find_mode(study).compares_configurations
            and study.method is AnalysisMethod.NORMAL_SCORES
        )
        self._results = {TrialStatus.FINISHED} | ({TrialStatus.FAILED} if failures_count else set())

    def run(self) -> tuple[ComparisonResult, ...]:
        """Run the blocks that the ledger lacks; return all comparisons.

        A failed workload is a result, unless it failed under all configurations of the block. A
        workload without a counted attempt at a block is given up, and the others continue. One
        that the node is not ready for waits: it is tried after every block of another, and given
        up once no other is left.
        No block begins after the time limit.
        Raises TrialError at the end if a workload was given up because it failed, not because of a
        limit; RestoreError at once if a setting could not be restored. The ledger keeps all
        finished trials.
        """
        self._load()
        for listener in self._listeners:
            listener.study_began(
                self._study,
                self._schedule.seed,
                len(self._rows),
                self._schedule.comparisons(self._rows),
            )
        final = self._run_blocks()
        for listener in self._listeners:
            listener.study_ended(final)
        self._require_workloads()
        return final

    def confirm(self, labels: Mapping[str, Sequence[str]], blocks: int) -> None:
        """Run the blocks that the ledger lacks, as the confirmation of a study of windows.

        ``labels`` are the confirmed configurations by workload. Raises as `run` does.
        """
        self._load()
        for listener in self._listeners:
            listener.confirmation_began(labels, blocks, len(self._rows))
        self._run_blocks()
        self._require_workloads()

    def _load(self) -> None:
        self._ledger.interrupt(INTERRUPTED)
        self._rows = list(self._ledger.rows())

    def _run_blocks(self) -> tuple[ComparisonResult, ...]:
        while (block := self._next_block()) is not None:
            if self._limit.is_reached:
                self._run.record_time_limit()
                break
            self._complete(block)
        return self._schedule.comparisons(self._rows)

    def _next_block(self) -> Block | None:
        """The next block of a workload that does not wait, else of one that does.

        A run that continues a study adds a limited number of blocks to each workload.
        """
        given_up = frozenset(entry.workload for entry in self._given_up.workloads())
        if self._study.is_continued:
            most = self._study.further_blocks
            given_up |= {label for label, added in self._added.items() if added >= most}
        ready = self._schedule.next(self._rows, given_up | self._waiting)
        return ready or self._schedule.next(self._rows, given_up)

    def _require_workloads(self) -> None:
        if failed := [entry for entry in self._given_up.workloads() if not entry.disturbed]:
            reasons = "; ".join(f"{entry.workload}: {entry.explanation}" for entry in failed)
            raise TrialError(
                f"to complete block {failed[0].block} of {failed[0].workload}",
                found=reasons,
                where=str(self._ledger.folder),
                remedy="correct the cause and resume with --resume; finished trials are kept, "
                "and the report shows what they decide",
            )

    def _complete(self, block: Block) -> None:
        """Attempt the block until an attempt counts; give up its workload after the last one.

        The time limit ends the attempts; a resumed study repeats the block.
        """
        allowed = self._study.validity.attempts
        rows = (r for r in self._rows if (r.workload, r.block) == (block.workload, block.index))
        before = max((row.attempt for row in rows), default=0)
        failed = set[str]()
        for number in range(1, allowed + 1):
            result = self._attempt(block, before + number)
            if not result.began:
                return self._wait(block, result)
            if not result.reason:
                return self._count(block, before + number, result)
            self._rows += result.rows
            failed.add(result.failed_configuration)
            for listener in self._listeners:
                listener.block_repeated(block, before + number, result.reason)
            if self._limit.is_reached:
                return None
            if number < allowed and result.is_disturbed(self._study.validity):
                self._pause(number)
        if len(failed) != 1 or not self._schedule.drop(failed.pop(), result.reason):
            self._give_up(block, result, allowed)
        return None

    def _wait(self, block: Block, result: Attempt) -> None:
        """Let the workload wait for others; give it up if it waits already."""
        if block.workload in self._waiting:
            self._give_up(block, result, 0)
        self._waiting.add(block.workload)

    def _count(self, block: Block, attempt: int, result: Attempt) -> None:
        self._ledger.complete(block.workload, block.index, attempt)
        self._rows += [replace(row, counts=True) for row in result.rows]
        self._added[block.workload] += 1
        self._waiting.clear()
        if self._listeners:  # their summary takes an analysis
            self._notify(block)

    def _pause(self, number: int) -> None:
        """Wait for a quieter machine after attempt ``number``, counted from 1."""
        seconds = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (number - 1))
        for listener in self._listeners:
            listener.pause_began(seconds)
        time.sleep(seconds)

    def _give_up(self, block: Block, last: Attempt, attempts: int) -> None:
        given_up = GivenUpWorkload(
            workload=block.workload,
            block=block.index,
            attempts=attempts,
            reason=last.reason,
            disturbed=last.is_disturbed(self._study.validity),
        )
        self._given_up.add_workload(given_up)
        for listener in self._listeners:
            listener.workload_given_up(given_up)

    def _attempt(self, block: Block, attempt: int) -> Attempt:
        began, rows, reason = time.monotonic(), list[TrialRow](), ""
        request = self._requests[block.workload]
        seed = _data_seed(self._schedule.seed, block, attempt)
        round_seed = _derive_seed(f"{self._schedule.seed} {block.index}")
        try:
            with self._run.node.block(request, seed, round_seed) as session:
                for label in block.order:
                    rows.append(self._trial(session, block, attempt, len(rows) + 1, label))
                    if rows[-1].status not in self._results:
                        reason = f"{label}: {rows[-1].reason}"
                        break
            if not reason and all(row.status is TrialStatus.FAILED for row in rows):
                reason = f"{rows[-1].configuration}: {rows[-1].reason}"
        except NotReadyError as error:
            return Attempt([], f"{error.wanted}, but {error.found}", began=False)
        except TrialError as error:
            reason = f"{error.wanted}, but {error.found}"
        self._seconds += time.monotonic() - began
        self._trials += len(rows)
        return Attempt(rows, reason)

    def _trial(
        self, session: BlockSession, block: Block, attempt: int, position: int, label: str
    ) -> TrialRow:
        configuration = self._schedule.configuration(label)
        row = TrialRow(
            id=0,
            block=block.index,
            attempt=attempt,
            position=position,
            workload=block.workload,
            configuration=configuration.label,
            status=TrialStatus.STARTED,
            started_at=time.time(),
        )
        for listener in self._listeners:
            listener.trial_began(row, len(block.order))
        limits, figures = self._study.validity, self._requests[block.workload].figures
        row = run_trial(self._ledger, session, limits, row, configuration, figures)
        for listener in self._listeners:
            listener.trial_ended(row)
        return row

    def _notify(self, block: Block) -> None:
        mean = self._seconds / self._trials
        progress = self._schedule.progress(block, self._rows, mean)
        last, left = progress.blocks, min(progress.seconds_left, self._limit.seconds_left)
        if self._study.is_continued and (further := self._study.further_blocks) < math.inf:
            blocks = sum(int(further) - self._added[label] for label in self._requests)
            left = min(left, blocks * len(block.order) * mean)
            last = min(last, block.index + int(further) - self._added[block.workload])
        progress = replace(progress, blocks=last, seconds_left=left)
        for listener in self._listeners:
            listener.block_ended(progress)


def _data_seed(seed: int, block: Block, attempt: int) -> int:
    """Derive the seed of a block's data from study seed, workload, block and attempt."""
    return _derive_seed(f"{seed} {block.workload} {block.index} {attempt}")


def _derive_seed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
