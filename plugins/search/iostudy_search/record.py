"""Record of the candidates and the outcome of a search."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from iostudy.ledger.encoding import decode_rows
from iostudy.ledger.store import Ledger
from iostudy_search.search import Candidate, SearchOutcome


class SearchRecord:
    """The candidates of a search and its outcome; every change is durable on return.

    Raises LedgerError and RecordError as the ledger does.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._tables = ledger.tables

    def candidates(self) -> tuple[Candidate, ...]:
        """Return all candidates in the order of their numbers."""
        return decode_rows(self._tables, "candidate", _candidate)

    def enter(self, candidates: Iterable[Candidate]) -> None:
        """Record candidates before their first trial, in one transaction."""
        with self._tables.transaction() as change:
            for candidate in candidates:
                change.insert(
                    "candidate",
                    number=candidate.number,
                    round=candidate.round,
                    label=candidate.label,
                    point=json.dumps(candidate.point),
                    refused=candidate.refused,
                )

    def refuse(self, label: str, reason: str) -> None:
        """Record why a candidate is refused."""
        rows = self._tables.read("candidate")
        (number,) = (row["number"] for row in rows if row["label"] == label)
        with self._tables.transaction() as change:
            change.update("candidate", number, refused=reason)

    def end(self, outcome: SearchOutcome) -> None:
        """Record the outcome of the search, once."""
        with self._tables.transaction() as change:
            change.insert("outcome", winner=outcome.winner)

    def outcome(self) -> SearchOutcome | None:
        """Return the outcome of the search; None before its end."""
        rows = self._tables.read("outcome")
        return SearchOutcome(rows[0]["winner"]) if rows else None


def _candidate(row: sqlite3.Row) -> Candidate:
    return Candidate(
        number=row["number"],
        round=row["round"],
        label=row["label"],
        point=json.loads(row["point"]),
        refused=row["refused"],
    )
