"""Record of the time limit that ended a study before its last block."""

from __future__ import annotations

from iostudy.ledger.store import Ledger, require_writable

_TABLE = "time_limit"


class TimeLimitRecord:
    """The time limit that ended the study, since its last start or resumption.

    Raises LedgerError and RecordError as the ledger does.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._tables = ledger.tables

    def add(self, seconds: float) -> None:
        """Record durably that a limit of so many seconds ended the study."""
        with require_writable(self._tables).transaction() as change:
            change.insert(_TABLE, resumption=self._resumptions(), seconds=seconds)

    def seconds(self) -> float | None:
        """Return the limit that ended the study; None if none did."""
        current = self._resumptions()
        found = [r["seconds"] for r in self._tables.read(_TABLE) if r["resumption"] == current]
        return float(found[-1]) if found else None

    def _resumptions(self) -> int:
        return len(self._tables.read("resumption"))
