"""What the ledger of a search keeps beside its trials: the candidates, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable

from iostudy.ledger.store import Ledger
from iostudy.study.search import Candidate, Outcome


class SearchRecord:
    """The candidates of a search and its outcome; every change is on disk when a method returns.

    Raises LedgerError and RecordError as the ledger does.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def candidates(self) -> tuple[Candidate, ...]:
        """All that have entered, by their numbers."""
        with self._ledger.reading() as connection:
            rows = connection.execute("SELECT * FROM candidate ORDER BY number").fetchall()
        return tuple(
            Candidate(
                number=row["number"],
                round=row["round"],
                label=row["label"],
                point=json.loads(row["point"]),
                refused=row["refused"],
            )
            for row in rows
        )

    def enter(self, candidates: Iterable[Candidate]) -> None:
        """Record candidates before their first trial, all of them or none."""
        values = [(c.number, c.round, c.label, json.dumps(c.point), c.refused) for c in candidates]
        with self._ledger.changing() as connection:
            connection.executemany("INSERT INTO candidate VALUES (?, ?, ?, ?, ?)", values)

    def refuse(self, label: str, reason: str) -> None:
        """Record why a candidate is run no more."""
        with self._ledger.changing() as connection:
            connection.execute("UPDATE candidate SET refused=? WHERE label=?", (reason, label))

    def end(self, outcome: Outcome) -> None:
        """Record how the search ended; it ends once."""
        with self._ledger.changing() as connection:
            connection.execute("INSERT INTO outcome VALUES (?)", (outcome.winner,))

    def outcome(self) -> Outcome | None:
        """How the search ended; None as long as it has not."""
        with self._ledger.reading() as connection:
            row = connection.execute("SELECT winner FROM outcome").fetchone()
        return None if row is None else Outcome(row["winner"])
