"""Seal of a ledger: a small file with the newest head, outside of SQLite.

A truncated or lost SQLite log leaves an earlier ledger that is consistent in itself. The seal shows
that finished trials are missing. Changes write its two slots in turn, so that a crash can damage
only the newer one. The seal is then one change behind, which loses no protection of older rows.

The head contains the number of changes and of rows, and the sum of all checksums modulo 2^256. A
sum can be updated in constant time, and detects a row that is lost, duplicated or outdated: the
incremental hash AdHash of Bellare and Micciancio (EUROCRYPT '97). It protects against damage, not
against deliberate changes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.durable import write_whole
from iostudy.errors import LedgerError
from iostudy.ledger.errors import write_failed
from iostudy.safe_path import open_regular, read_regular

FILE_NAME = "ledger.seal"
_SLOT_BYTES = 512
"""The smallest sector of a disk, which is written atomically."""
_SLOTS = 2
_KIND = "seal"


class SealWriter:
    """Writer of the seal of a ledger. Raises RecordError if a write fails."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        try:
            self._file = os.fdopen(open_regular(self._path, os.O_RDWR), "r+b", buffering=0)
        except OSError as error:
            raise write_failed(self._path, error.strerror or str(error)) from error

    def write(self, head: Head) -> None:
        """Make the head durable."""
        try:
            offset = head.changes % _SLOTS * _SLOT_BYTES
            os.pwrite(self._file.fileno(), _encode_slot(head), offset)
            os.fdatasync(self._file.fileno())
        except OSError as error:
            raise write_failed(self._path, error.strerror or str(error)) from error

    def close(self) -> None:
        """Release the file."""
        self._file.close()


def create(folder: Path, head: Head) -> None:
    """Write the seal of a new ledger durably; RecordError if that fails."""
    path = folder / FILE_NAME
    try:
        write_whole(path, _SLOTS * _encode_slot(head))
    except OSError as error:
        raise write_failed(path, error.strerror or str(error)) from error


def read(folder: Path) -> Head | None:
    """Return the newest head of the seal; None without a seal or an intact slot."""
    try:
        content = read_regular(folder / FILE_NAME, _SLOTS * _SLOT_BYTES)
    except OSError:
        return None
    slots = (content[start : start + _SLOT_BYTES] for start in range(0, len(content), _SLOT_BYTES))
    heads = [head for slot in slots if (head := _decode_slot(slot)) is not None]
    return max(heads, key=lambda head: head.changes, default=None)


def check_seal(folder: Path, seal: Head | None, head: Head) -> None:
    """Raise LedgerError if a ledger with this head lacks changes of its seal, read before.

    The ledger may be ahead: its writer was stopped before it wrote the seal, or is active.
    """
    where = str(folder / FILE_NAME)
    if seal is None:
        raise LedgerError(
            "the seal of the ledger",
            found="it is missing or damaged, so missing trials cannot be detected",
            where=where,
            remedy="restore the file from a copy of the output folder; copy ledger.sqlite, "
            "ledger.sqlite-wal and ledger.seal together",
        )
    if seal.changes > head.changes or (seal.changes == head.changes and seal != head):
        raise LedgerError(
            "a ledger with all recorded trials",
            found=f"it ends at change {head.changes}, with {head.rows} rows; its seal is of "
            f"change {seal.changes}, with {seal.rows} rows",
            where=where,
            remedy="restore ledger.sqlite with ledger.sqlite-wal from a copy of the output folder, "
            "or run the study again in another folder with --out",
        )


def _encode_slot(head: Head) -> bytes:
    words = (*map(str, head.values()), checksum(_KIND, head.values()))
    return " ".join(words).ljust(_SLOT_BYTES - 1).encode() + b"\n"


def _decode_slot(slot: bytes) -> Head | None:
    try:
        changes, rows, total, digest = slot.decode("ascii").split()
        head = Head.from_values(int(changes), int(rows), total)
    except ValueError:
        return None
    return head if digest == checksum(_KIND, head.values()) else None


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
