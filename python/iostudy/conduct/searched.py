"""A search as its output folder holds it, with the confirmation of its winner."""

from __future__ import annotations

from pathlib import Path

from iostudy.conduct.finding import Searched
from iostudy.conduct.session import Assignment, assign, opened, recorded_study
from iostudy.errors import UsageError
from iostudy.ledger.given_up import GivenUpRecord
from iostudy.ledger.search import SearchRecord
from iostudy.ledger.store import FILE_NAME
from iostudy.study.candidates import with_candidates
from iostudy.study.confirmation import confirming
from iostudy.study.model import Study
from iostudy.study.schema import parse
from iostudy.study.search import Outcome

CONFIRMATION = "confirmation"
"""The folder of the confirmation in that of the search; its study file has the same name."""


def searched(folder: Path) -> Searched | None:
    """The search of an output folder; None where it holds another study."""
    with opened(folder) as ledger:
        row, record = ledger.study(), SearchRecord(ledger)
        study = recorded_study(row)
        if study.search is None:
            return None
        candidates = record.candidates()
        return Searched(
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


def confirmation(folder: Path, *, root: bool) -> Assignment | None:
    """The confirmation of the search in a folder, new or to be gone on with; None without a winner.

    Raises what `assign` does.
    """
    found = searched(folder)
    study = None if found is None else confirmation_of(found, folder)
    if study is None:
        return None
    resume = confirmation_in(folder) is not None
    return assign(study, folder / CONFIRMATION, root=root, resume=resume)


def confirmation_of(found: Searched, folder: Path) -> Study | None:
    """The study that confirms the winner of a search that has ended; None without a winner."""
    if found.outcome is None or found.outcome.winner is None:
        return None
    text = confirming(found.study, found.outcome.winner, found.row.seed, folder / CONFIRMATION)
    name = f"{found.study.name}-{CONFIRMATION}"
    return parse(text, where=f"{CONFIRMATION}.yaml", name=name)


def deciding(folder: Path) -> Path:
    """The folder whose ledger decides: that of a search's confirmation, or the folder itself.

    UsageError where a search has nothing to decide by, or not yet.
    """
    found = searched(folder)
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
