"""Strategy of a search: its rounds, and the study that confirms its winner."""

from __future__ import annotations

from pathlib import Path

from iostudy.execution.runner import Runner
from iostudy.execution.schedule import Run
from iostudy.execution.strategies import Comparisons, Strategy
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import CONFIRMATION
from iostudy.study.model import Study
from iostudy.study.parser import parse
from iostudy_search.confirmation import build_confirmation
from iostudy_search.record import SearchRecord
from iostudy_search.result import read_search
from iostudy_search.schedule import SearchSchedule


def _find_final(study: Study, ledger: Ledger) -> Comparisons | None:
    """A search has no comparisons, because it selects its winner by the same data."""
    return () if SearchRecord(ledger).outcome() else None


def _run(study: Study, run: Run) -> Comparisons:
    ledger = run.ledger
    seed, record = ledger.study().seed, SearchRecord(ledger)
    schedule = SearchSchedule(study, seed, record, run.node, run.listeners)
    return Runner(study, schedule, run).run()


def _build_confirmation(folder: Path) -> Study | None:
    """Build the study that confirms the winner of a finished search; None without a winner."""
    result = read_search(folder)
    if result.outcome is None or result.outcome.winner is None:
        return None
    text = build_confirmation(
        result.study, result.outcome.winner, result.row.seed, folder / CONFIRMATION
    )
    name = f"{result.study.name}-{CONFIRMATION}"
    return parse(text, where=f"{CONFIRMATION}.yaml", name=name)


STRATEGY = Strategy(_find_final, _run, _build_confirmation)
