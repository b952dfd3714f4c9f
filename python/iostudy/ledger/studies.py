"""Studies and searches in their output folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from iostudy.analysis.switchback.looks import FIRST_LOOK
from iostudy.errors import UsageError
from iostudy.ledger.abandoned_workloads import AbandonedWorkload, AbandonedWorkloadRecord
from iostudy.ledger.rows import PilotRow, StudyRow
from iostudy.ledger.search import SearchRecord
from iostudy.ledger.search_result import SearchResult
from iostudy.ledger.store import FILE_NAME, Ledger
from iostudy.ledger.windows import WindowRecord
from iostudy.study.candidates import add_candidates
from iostudy.study.model import Study
from iostudy.study.privileges import adapt_to_user
from iostudy.study.schema import parse
from iostudy.study.search import Outcome
from iostudy.study.sections import DecisionMode

CONFIRMATION = "confirmation"
"""The subfolder of a search's confirmation; its study file has the same name."""


@contextmanager
def open_ledger(folder: Path) -> Iterator[Ledger]:
    """Open the ledger of an output folder read-only."""
    ledger = Ledger.open(folder, read_only=True)
    try:
        yield ledger
    finally:
        ledger.close()


def recorded_study(row: StudyRow) -> Study:
    """Return the Study of a ledger's record, with offered levels and refused configurations."""
    study = parse(row.text, where=f"{row.name} in the ledger", name=row.name)
    return adapt_to_user(study, root=row.root).with_offered(row.offered).without(row.left_out)


def read_study(ledger: Ledger) -> Study:
    """Return the Study of a ledger, with its candidates and the plans of its windows."""
    study = add_candidates(recorded_study(ledger.study()), SearchRecord(ledger).candidates())
    return apply_pilots(study, WindowRecord(ledger).pilots())


def apply_pilots(study: Study, pilots: Sequence[PilotRow]) -> Study:
    """Return the study with the blocks that its pilots plan.

    It becomes a study of whole trials, with a note, if a pilot has no plan.
    """
    if reasons := [pilot.reason for pilot in pilots if pilot.plan is None]:
        note = f"whole trials decide, because windows cannot: {'; '.join(reasons)}"
        decide = replace(study.decide, mode=DecisionMode.TRIALS)
        return replace(study, decide=decide, notes=(*study.notes, note))
    if not pilots or len(pilots) < len(study.workloads):
        return study
    most = max(pilot.max_blocks for pilot in pilots)
    return replace(study, decide=study.decide.with_blocks(FIRST_LOOK, most))


def read_abandoned_workloads(folder: Path) -> tuple[AbandonedWorkload, ...]:
    """Return the workloads that the study of an output folder gave up."""
    with open_ledger(folder) as ledger:
        return AbandonedWorkloadRecord(ledger).all()


def read_search(folder: Path) -> SearchResult | None:
    """Return the search of an output folder; None for other studies."""
    with open_ledger(folder) as ledger:
        row, record = ledger.study(), SearchRecord(ledger)
        study = recorded_study(row)
        if study.search is None:
            return None
        candidates = record.candidates()
        return SearchResult(
            study=add_candidates(study, candidates),
            row=row,
            rows=ledger.rows(),
            candidates=candidates,
            outcome=record.outcome(),
            given_up=AbandonedWorkloadRecord(ledger).all(),
        )


def find_confirmation(folder: Path) -> Path | None:
    """Return the folder of a search's confirmation; None before its start."""
    own = folder / CONFIRMATION
    return own if (own / FILE_NAME).exists() else None


def find_verdict_folder(folder: Path) -> Path:
    """Return the folder with the verdicts: that of a search's confirmation, or the folder itself.

    UsageError if a search has no winner or no confirmation yet.
    """
    result = read_search(folder)
    if result is None:
        return folder
    if result.outcome == Outcome(None):
        raise UsageError(
            "a configuration that is better than the default",
            found="no candidate of the search leads the default",
            where=str(folder),
            remedy="keep the default, or choose a candidate with --configuration LABEL",
        )
    confirmed = find_confirmation(folder)
    if confirmed is None:
        raise UsageError(
            "a confirmed winner of the search",
            found="the search has no confirmation yet",
            where=str(folder),
            remedy="continue with `iostudy run --resume`, or choose a candidate with "
            "--configuration LABEL",
        )
    return confirmed
