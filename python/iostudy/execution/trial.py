"""Execution of one trial, from STARTED to FINISHED, FAILED, INVALID or INTERRUPTED."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from iostudy.errors import (
    IostudyError,
    LedgerError,
    RecordError,
    RestoreError,
    TrialError,
    WorkloadError,
    WorkloadStoppedError,
)
from iostudy.execution.validity import (
    explain_disturbance,
    explain_unusable_figures,
    foreign_io_share,
    note_unchecked_limits,
)
from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.ledger.samples import write_samples
from iostudy.ledger.store import Ledger
from iostudy.node.protocol import BlockSession, TrialResult
from iostudy.study.combinations import Configuration
from iostudy.study.sections import Validity
from iostudy.telemetry.covariates import FOREIGN_FIGURE
from iostudy.telemetry.summary import Figures
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
        summary = result.telemetry.summary
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
            summary=replace(summary, machine={**summary.machine, **_foreign_figure(result)}),
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


def _foreign_figure(result: TrialResult) -> Figures:
    """The figure of foreign I/O; empty if it is unknown."""
    share = foreign_io_share(result)
    return {} if share is None else {FOREIGN_FIGURE: 100 * share}


def _invalid_row(row: TrialRow, error: IostudyError) -> TrialRow:
    reason = f"{error.wanted}, but {error.found}"
    return replace(row, status=TrialStatus.INVALID, reason=reason)
