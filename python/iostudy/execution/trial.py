"""One trial from STARTED to its end: FINISHED, INVALID or INTERRUPTED."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from iostudy.errors import IostudyError, LedgerError, RecordError, RestoreError, TrialError
from iostudy.execution.validity import disturbance, foreign_share, undecidable, unjudged
from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.ledger.samples import write_samples
from iostudy.ledger.store import Ledger
from iostudy.node.protocol import BlockSession, TrialResult
from iostudy.study.combinations import Configuration
from iostudy.study.model import Validity
from iostudy.telemetry.covariates import FOREIGN_FIGURE
from iostudy.workloads.definition import Figure


def run_trial(
    ledger: Ledger,
    session: BlockSession,
    limits: Validity,
    row: TrialRow,
    configuration: Configuration,
    figure: Figure,
) -> TrialRow:
    """Run the trial that ``row`` describes; the row as the ledger has it at the end.

    A trial that fails, that was disturbed, or whose ``figure`` - the one that verdicts use - cannot
    be compared, is INVALID with its reason and does not raise. What
    must stop the study - RestoreError, RecordError, a signal - is recorded and goes on up.
    """
    row = replace(row, id=ledger.begin(row), status=TrialStatus.STARTED)
    try:
        ended = _ended(row, session.trial(configuration), limits, figure, ledger)
    except RestoreError as error:
        ledger.finish(_invalid(row, error))
        raise
    except TrialError as error:
        ended = _invalid(row, error)
    except BaseException as error:
        reason = f"ended by {type(error).__name__}"
        # A ledger that cannot be written to must not hide what ended the trial.
        with suppress(LedgerError, RecordError):
            ledger.finish(replace(row, status=TrialStatus.INTERRUPTED, reason=reason))
        raise
    ledger.finish(ended)
    return ended


def _ended(
    row: TrialRow, result: TrialResult, limits: Validity, figure: Figure, ledger: Ledger
) -> TrialRow:
    seen = result.telemetry.seen
    reason = undecidable(result.figures, figure) or disturbance(result, limits)
    return replace(
        row,
        status=TrialStatus.INVALID if reason else TrialStatus.FINISHED,
        reason=reason,
        figures=dict(result.figures),
        settings=dict(result.settings),
        devices=result.devices,
        seen=replace(seen, machine={**seen.machine, FOREIGN_FIGURE: 100 * foreign_share(result)}),
        phases=dict(result.phases),
        notes=(*result.notes, *unjudged(result, limits)),
        latencies=dict(result.latencies),
        parts=result.parts,
        telemetry=write_samples(ledger.folder, row.id, result.telemetry.samples),
    )


def _invalid(row: TrialRow, error: IostudyError) -> TrialRow:
    reason = f"{error.wanted}, but {error.found}"
    return replace(row, status=TrialStatus.INVALID, reason=reason)
