"""Recorded search with its trials, candidates and outcome."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from iostudy.errors import UsageError
from iostudy.ledger.given_up_workloads import GivenUpRecord, GivenUpWorkload
from iostudy.ledger.rows import StudyRow, TrialRow
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import find_confirmation, open_ledger, recorded_study
from iostudy.study.model import Study
from iostudy.units import format_percent
from iostudy_search.candidates import add_candidates
from iostudy_search.optimizer.race import RaceStatus
from iostudy_search.record import SearchRecord
from iostudy_search.search import Candidate, SearchOutcome
from iostudy_search.state import SearchState


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

    @cached_property
    def unqualified(self) -> tuple[str, str] | None:
        """The best candidate ahead of the default if none leads, and why it does not lead."""
        state = SearchState(self.study, self.row.seed, self.candidates, self.rows)
        ahead = [
            (entrant, candidate.label)
            for entrant, candidate in zip(state.race.entrants, self.candidates, strict=True)
            if entrant.is_known and entrant.estimate > 0
        ]
        if state.incumbent is not None or not ahead:
            return None
        entrant, label = max(ahead, key=lambda pair: pair[0].estimate)
        if entrant.status is RaceStatus.WORSE:
            return label, "another candidate was clearly better in earlier rounds"
        worst = state.search.worst
        if worst is None or (entrant.eligible and entrant.status is not RaceStatus.UNFIT):
            return label, "it had fewer rounds than another candidate"
        return label, f"it loses more than {format_percent(worst)} on a workload"


def restore_candidates(study: Study, ledger: Ledger) -> Study:
    """Return the study of a search with the candidates of its ledger."""
    return add_candidates(study, SearchRecord(ledger).candidates())


def read_search(folder: Path) -> SearchResult:
    """Return the search of an output folder."""
    with open_ledger(folder) as ledger:
        row, record, given_up = ledger.study(), SearchRecord(ledger), GivenUpRecord(ledger)
        candidates = record.candidates()
        return SearchResult(
            study=add_candidates(recorded_study(row), candidates),
            row=row,
            rows=ledger.rows(),
            candidates=candidates,
            outcome=record.outcome(),
            given_up=given_up.workloads(),
            time_limit_seconds=given_up.time_limit(),
        )


def find_verdict_folder(folder: Path) -> Path:
    """Return the folder of a search's confirmation; UsageError without a winner or without one."""
    result = read_search(folder)
    if result.outcome == SearchOutcome(None):
        leads = "no candidate of the search leads the default"
        if result.unqualified is not None:
            leads += ": {} is ahead, but {}".format(*result.unqualified)
        raise UsageError(
            "a configuration that is better than the default",
            found=leads,
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
