"""Records of what a study gave up: workloads that failed, and blocks past its time limit."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, dataclass
from typing import ClassVar

from iostudy.ledger.encoding import decode_row
from iostudy.ledger.store import Ledger

_TABLE, _TIME_LIMIT_TABLE = "given_up", "time_limit"


@dataclass(frozen=True)
class GivenUpWorkload:
    """A workload that the study gave up: all attempts at a block failed."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True, "extra": "forbid"}

    workload: str
    """Label of the workload."""
    block: int
    """Number of the block."""
    attempts: int
    """Number of attempts at it; 0 if it could not begin."""
    reason: str
    """Why the last attempt was not valid."""
    disturbed: bool
    """True if a limit of ``validity:`` was exceeded, or telemetry had a gap; false if a trial or a
    setting failed."""

    @property
    def explanation(self) -> str:
        """What became of the attempts, and the reason."""
        if self.attempts == 0:
            return f"it could not begin: {self.reason}"
        return f"none of {self.attempts} attempts counts; the last: {self.reason}"


class GivenUpRecord:
    """The workloads given up since the study's last start or resumption, and its time limit.

    Every change is durable on return. Raises LedgerError and RecordError as the ledger does.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._tables = ledger.tables

    def add_workload(self, given_up: GivenUpWorkload) -> None:
        """Record that the study gave a workload up."""
        with self._tables.transaction() as change:
            change.insert(_TABLE, resumption=self._resumptions(), **asdict(given_up))

    def workloads(self) -> tuple[GivenUpWorkload, ...]:
        """Return every workload given up, in order.

        A resumed study tries every workload again, so earlier records do not count.
        """
        path, rows, current = self._tables.path, self._tables.read(_TABLE), self._resumptions()
        return tuple(
            decode_row(path, _TABLE, row, _given_up) for row in rows if row["resumption"] == current
        )

    def add_time_limit(self, seconds: float) -> None:
        """Record durably that a limit of so many seconds ended the study."""
        with self._tables.transaction() as change:
            change.insert(_TIME_LIMIT_TABLE, resumption=self._resumptions(), seconds=seconds)

    def time_limit(self) -> float | None:
        """Return the limit that ended the study; None if none did."""
        current = self._resumptions()
        times = [
            r["seconds"] for r in self._tables.read(_TIME_LIMIT_TABLE) if r["resumption"] == current
        ]
        return float(times[-1]) if times else None

    def _resumptions(self) -> int:
        return len(self._tables.read("resumption"))


def _given_up(row: sqlite3.Row) -> GivenUpWorkload:
    values = {name: row[name] for name in ("workload", "block", "attempts", "reason")}
    return GivenUpWorkload(**values, disturbed=bool(row["disturbed"]))
