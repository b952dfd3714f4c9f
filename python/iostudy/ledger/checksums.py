"""Checksums of rows, and the head over all rows of a ledger (pure).

The head contains the number of changes and of rows, and the sum of all checksums modulo 2^256. A
sum can be updated in constant time, and detects a row that is lost, duplicated or outdated: the
incremental hash AdHash of Bellare and Micciancio (EUROCRYPT '97). It protects against damage, not
against deliberate changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

_MODULUS = 2**256


@dataclass(frozen=True)
class Head:
    """The state of a ledger after ``changes`` transactions; ``total`` sums its rows' checksums."""

    changes: int = 0
    rows: int = 0
    total: int = 0

    def with_row(self, checksum: str) -> Head:
        """The head after a row was added."""
        return Head(self.changes, self.rows + 1, (self.total + int(checksum, 16)) % _MODULUS)

    def without_row(self, checksum: str) -> Head:
        """The head after a row was removed, or before it is replaced."""
        return Head(self.changes, self.rows - 1, (self.total - int(checksum, 16)) % _MODULUS)

    def values(self) -> tuple[int, int, str]:
        """Return the head as column values."""
        return self.changes, self.rows, f"{self.total:064x}"

    @classmethod
    def from_values(cls, changes: int, rows: int, total: str) -> Head:
        """Return the head of `values`; ValueError for invalid text."""
        return cls(int(changes), int(rows), int(total, 16))


def checksum(kind: str, values: Sequence[object]) -> str:
    """Return the SHA-256 of a table name and all values of a row, in hexadecimal digits."""
    # ASCII JSON is identical in every version of Python; repr() is not. A value of another type,
    # such as a blob, results from damage only and must give another checksum.
    return hashlib.sha256(json.dumps([kind, *values], default=repr).encode()).hexdigest()
