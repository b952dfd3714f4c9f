"""Confirmation of the winner of a search in a study of its own."""

from __future__ import annotations

from pathlib import Path

from iostudy.execution.session import StudySession, prepare_session
from iostudy.ledger.search_result import SearchResult
from iostudy.ledger.studies import CONFIRMATION, find_confirmation, read_search
from iostudy.study.model import Study
from iostudy.study.parser import parse
from iostudy.study.search_confirmation import build_confirmation


def prepare_confirmation(
    folder: Path, *, root: bool, further_blocks: float = 0
) -> StudySession | None:
    """Prepare the confirmation of the search in a folder, new or resumed.

    None for other studies, and for a search without a winner. A resumed one adds up to so many
    ``further_blocks`` to each workload, past its plan.
    Raises the errors of `prepare_session`.
    """
    result = read_search(folder)
    study = None if result is None else build_confirmation_study(result, folder)
    if study is None:
        return None
    resume = find_confirmation(folder) is not None
    return prepare_session(
        study,
        folder / CONFIRMATION,
        root=root,
        resume=resume,
        further_blocks=further_blocks if resume else 0,
    )


def build_confirmation_study(result: SearchResult, folder: Path) -> Study | None:
    """Build the study that confirms the winner of a finished search; None without a winner."""
    if result.outcome is None or result.outcome.winner is None:
        return None
    text = build_confirmation(
        result.study, result.outcome.winner, result.row.seed, folder / CONFIRMATION
    )
    name = f"{result.study.name}-{CONFIRMATION}"
    return parse(text, where=f"{CONFIRMATION}.yaml", name=name)
