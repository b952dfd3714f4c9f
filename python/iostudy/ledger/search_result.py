"""Recorded search with its trials, candidates and outcome."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.ledger.abandoned_workloads import AbandonedWorkload
from iostudy.ledger.rows import StudyRow, TrialRow
from iostudy.study.model import Study
from iostudy.study.search import Candidate, Outcome


@dataclass(frozen=True)
class SearchResult:
    """A recorded search; ``outcome`` is None before its end.

    ``study`` has the accepted candidates as its configurations.
    """

    study: Study
    row: StudyRow
    rows: tuple[TrialRow, ...]
    candidates: tuple[Candidate, ...]
    outcome: Outcome | None
    given_up: tuple[AbandonedWorkload, ...] = ()
