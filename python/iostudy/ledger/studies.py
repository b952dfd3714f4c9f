"""Studies and searches as their output folders record them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iostudy.errors import UsageError
from iostudy.ledger.given_up import GivenUp, GivenUpRecord
from iostudy.ledger.rows import StudyRow
from iostudy.ledger.search import SearchRecord
from iostudy.ledger.search_result import SearchResult
from iostudy.ledger.store import FILE_NAME, Ledger
from iostudy.study.candidates import with_candidates
from iostudy.study.model import Study
from iostudy.study.schema import parse
from iostudy.study.search import Outcome
from iostudy.study.user import for_user

CONFIRMATION = "confirmation"
"""The folder of the confirmation in that of the search; its study file has the same name."""


@contextmanager
def open_ledger(folder: Path) -> Iterator[Ledger]:
    """The ledger of an output folder, to read it."""
    ledger = Ledger.open(folder, read_only=True)
    try:
        yield ledger
    finally:
        ledger.close()


def recorded_study(row: StudyRow) -> Study:
    """The Study that a ledger's record describes, with what the host offered and refused."""
    study = parse(row.text, where=f"{row.name} in the ledger", name=row.name)
    return for_user(study, root=row.root).with_offered(row.offered).without(row.left_out)


def read_study(ledger: Ledger) -> Study:
    """The Study that a ledger holds, with all candidates if it is a search."""
    return with_candidates(recorded_study(ledger.study()), SearchRecord(ledger).candidates())


def given_up_in(folder: Path) -> tuple[GivenUp, ...]:
    """The workloads that the study of an output folder gave up."""
    with open_ledger(folder) as ledger:
        return GivenUpRecord(ledger).all()


def read_search(folder: Path) -> SearchResult | None:
    """The search of an output folder; None where it holds another study."""
    with open_ledger(folder) as ledger:
        row, record = ledger.study(), SearchRecord(ledger)
        study = recorded_study(row)
        if study.search is None:
            return None
        candidates = record.candidates()
        return SearchResult(
            study=with_candidates(study, candidates),
            row=row,
            rows=ledger.rows(),
            candidates=candidates,
            outcome=record.outcome(),
            given_up=GivenUpRecord(ledger).all(),
        )


def confirmation_in(folder: Path) -> Path | None:
    """Where the confirmation of a search is recorded; None where it has not begun."""
    own = folder / CONFIRMATION
    return own if (own / FILE_NAME).exists() else None


def deciding(folder: Path) -> Path:
    """The folder whose ledger decides: that of a search's confirmation, or the folder itself.

    UsageError where a search has nothing to decide by, or not yet.
    """
    found = read_search(folder)
    if found is None:
        return folder
    if found.outcome == Outcome(None):
        raise UsageError(
            "a configuration that is better than the default",
            found="the search found none that was ahead of it",
            where=str(folder),
            remedy="keep what you have; --configuration LABEL keeps a candidate that you choose",
        )
    confirmed = confirmation_in(folder)
    if confirmed is None:
        raise UsageError(
            "the winner of a search, confirmed in fresh blocks",
            found="the search has not come to its confirmation",
            where=str(folder),
            remedy="go on with `iostudy run --resume`, or choose yourself with "
            "--configuration LABEL",
        )
    return confirmed
