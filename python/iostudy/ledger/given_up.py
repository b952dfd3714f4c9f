"""Record of the workloads that a study gave up because no attempt at a block counted."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.ledger.store import Ledger

# Made when it is first needed, so that ledgers of earlier programs have it, too.
_TABLE = """
CREATE TABLE IF NOT EXISTS given_up (
  workload TEXT PRIMARY KEY, block INTEGER NOT NULL, attempts INTEGER NOT NULL,
  reason TEXT NOT NULL, disturbed INTEGER NOT NULL
)
"""
_IS_THERE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'given_up'"


@dataclass(frozen=True)
class GivenUp:
    """A workload that a study gave up in a block, after so many attempts.

    ``reason`` is that of the last attempt. ``disturbed``: attempts exceeded a limit of
    ``validity:``, or a gap in the telemetry or a suspension spoilt them. Otherwise the workload
    itself failed, or a setting did.
    """

    workload: str
    block: int
    attempts: int
    reason: str
    disturbed: bool


class GivenUpRecord:
    """The workloads given up since the study last began; every change is durable on return.

    Raises LedgerError and RecordError as the ledger does.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, given_up: GivenUp) -> None:
        """Record that the study gave a workload up."""
        own = given_up
        values = (own.workload, own.block, own.attempts, own.reason, own.disturbed)
        with self._ledger.changing() as connection:
            connection.execute(_TABLE)
            connection.execute("INSERT INTO given_up VALUES (?, ?, ?, ?, ?)", values)

    def all(self) -> tuple[GivenUp, ...]:
        """Every workload given up, in the order in which it happened."""
        with self._ledger.reading() as connection:
            if connection.execute(_IS_THERE).fetchone() is None:
                return ()
            rows = connection.execute("SELECT * FROM given_up ORDER BY rowid").fetchall()
        return tuple(
            GivenUp(
                row["workload"],
                row["block"],
                row["attempts"],
                row["reason"],
                bool(row["disturbed"]),
            )
            for row in rows
        )

    def clear(self) -> None:
        """Forget them all: a resumed study tries every workload again."""
        with self._ledger.changing() as connection:
            connection.execute(_TABLE)
            connection.execute("DELETE FROM given_up")
