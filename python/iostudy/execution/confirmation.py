"""Confirmation of the winner of a search in a study of its own."""

from __future__ import annotations

from pathlib import Path

from iostudy.execution.session import Assignment, assign
from iostudy.ledger.search_result import SearchResult
from iostudy.ledger.studies import CONFIRMATION, confirmation_in, read_search
from iostudy.study.confirmation import confirming
from iostudy.study.model import Study
from iostudy.study.schema import parse


def confirmation(folder: Path, *, root: bool) -> Assignment | None:
    """The confirmation of the search in a folder, new or to be gone on with; None without a winner.

    Raises what `assign` does.
    """
    found = read_search(folder)
    study = None if found is None else confirmation_of(found, folder)
    if study is None:
        return None
    resume = confirmation_in(folder) is not None
    return assign(study, folder / CONFIRMATION, root=root, resume=resume)


def confirmation_of(found: SearchResult, folder: Path) -> Study | None:
    """The study that confirms the winner of a search that has ended; None without a winner."""
    if found.outcome is None or found.outcome.winner is None:
        return None
    text = confirming(found.study, found.outcome.winner, found.row.seed, folder / CONFIRMATION)
    name = f"{found.study.name}-{CONFIRMATION}"
    return parse(text, where=f"{CONFIRMATION}.yaml", name=name)
