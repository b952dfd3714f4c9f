"""Recorded search with its trials, candidates and outcome."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.ledger.given_up_workloads import GivenUpWorkload
from iostudy.ledger.rows import StudyRow, TrialRow
from iostudy.study.model import Study
from iostudy.study.search import Candidate, SearchOutcome


@dataclass(frozen=True)
class SearchResult:
    """A recorded search; ``outcome`` is None before its end.

    ``study`` has the accepted candidates as its configurations. ``time_limit_seconds`` is the
    limit that ended the search.
    """

    study: Study
    row: StudyRow
    rows: tuple[TrialRow, ...]
    candidates: tuple[Candidate, ...]
    outcome: SearchOutcome | None
    given_up: tuple[GivenUpWorkload, ...] = ()
    time_limit_seconds: float | None = None
