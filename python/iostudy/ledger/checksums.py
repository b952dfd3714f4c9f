"""Checksums of rows, and the head that seals all rows of a ledger (pure).

The head holds the number of changes and of rows, and the sum of all checksums modulo 2^256. A sum
follows a change in constant time, and shows a row that is lost, doubled or exchanged for its
earlier self: the incremental hash of Bellare and Micciancio, AdHash (EUROCRYPT '97). It guards
against damage, not against an author who computes it anew.
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
        """The head as columns or words."""
        return self.changes, self.rows, f"{self.total:064x}"

    @classmethod
    def from_values(cls, changes: int, rows: int, total: str) -> Head:
        """The head that `values` gave; ValueError for another text."""
        return cls(int(changes), int(rows), int(total, 16))


def checksum(kind: str, values: Sequence[object]) -> str:
    """SHA-256 over the name of a table and all values of a row, in hexadecimal digits."""
    # JSON in ASCII is the same for every version of Python, which repr() is not. A value that no
    # ledger holds, such as a blob, comes from damage alone and must only differ.
    return hashlib.sha256(json.dumps([kind, *values], default=repr).encode()).hexdigest()
