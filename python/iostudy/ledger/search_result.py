"""What a search has found, as the ledger holds it."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.ledger.given_up import GivenUp
from iostudy.ledger.rows import StudyRow, TrialRow
from iostudy.study.model import Study
from iostudy.study.search import Candidate, Outcome


@dataclass(frozen=True)
class SearchResult:
    """What a ledger holds of a search: ``outcome`` is None as long as it has not ended.

    ``study`` has the candidates as its configurations, but for those that were refused.
    """

    study: Study
    row: StudyRow
    rows: tuple[TrialRow, ...]
    candidates: tuple[Candidate, ...]
    outcome: Outcome | None
    given_up: tuple[GivenUp, ...] = ()
