"""Record of the workloads that a study gave up because no attempt at a block counted."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from iostudy.ledger.encoding import decoded
from iostudy.ledger.store import Ledger, writable

_TABLE = "given_up"


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
    """The workloads given up since the study was last started or resumed.

    Every change is durable on return. Raises LedgerError and RecordError as the ledger does.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._tables = ledger.tables

    def add(self, given_up: GivenUp) -> None:
        """Record that the study gave a workload up."""
        with writable(self._tables).changing() as change:
            change.insert(
                _TABLE,
                workload=given_up.workload,
                resumption=self._resumptions(),
                block=given_up.block,
                attempts=given_up.attempts,
                reason=given_up.reason,
                disturbed=given_up.disturbed,
            )

    def all(self) -> tuple[GivenUp, ...]:
        """Every workload given up, in the order in which it happened.

        A resumed study tries every workload again, so earlier records do not count.
        """
        path, rows, current = self._tables.path, self._tables.read(_TABLE), self._resumptions()
        return tuple(
            decoded(path, _TABLE, row, _given_up) for row in rows if row["resumption"] == current
        )

    def _resumptions(self) -> int:
        return len(self._tables.read("resumption"))


def _given_up(row: sqlite3.Row) -> GivenUp:
    return GivenUp(
        row["workload"],
        row["block"],
        row["attempts"],
        row["reason"],
        bool(row["disturbed"]),
    )
