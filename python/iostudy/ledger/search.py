"""What the ledger of a search keeps beside its trials: the candidates, and how it ended."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from iostudy.ledger.encoding import decoded
from iostudy.ledger.store import Ledger, writable
from iostudy.study.search import Candidate, Outcome


class SearchRecord:
    """The candidates of a search and its outcome; every change is on disk when a method returns.

    Raises LedgerError and RecordError as the ledger does.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._tables = ledger.tables

    def candidates(self) -> tuple[Candidate, ...]:
        """All that have entered, by their numbers."""
        path, rows = self._tables.path, self._tables.read("candidate")
        return tuple(decoded(path, "candidate", row, _candidate) for row in rows)

    def enter(self, candidates: Iterable[Candidate]) -> None:
        """Record candidates before their first trial, all of them or none."""
        with writable(self._tables).changing() as change:
            for each in candidates:
                change.insert(
                    "candidate",
                    number=each.number,
                    round=each.round,
                    label=each.label,
                    point=json.dumps(each.point),
                    refused=each.refused,
                )

    def refuse(self, label: str, reason: str) -> None:
        """Record why a candidate is run no more."""
        rows = self._tables.read("candidate")
        (number,) = (row["number"] for row in rows if row["label"] == label)
        with writable(self._tables).changing() as change:
            change.update("candidate", number, refused=reason)

    def end(self, outcome: Outcome) -> None:
        """Record how the search ended; it ends once."""
        with writable(self._tables).changing() as change:
            change.insert("outcome", winner=outcome.winner)

    def outcome(self) -> Outcome | None:
        """How the search ended; None as long as it has not."""
        rows = self._tables.read("outcome")
        return Outcome(rows[0]["winner"]) if rows else None


def _candidate(row: sqlite3.Row) -> Candidate:
    return Candidate(
        number=row["number"],
        round=row["round"],
        label=row["label"],
        point=json.loads(row["point"]),
        refused=row["refused"],
    )
