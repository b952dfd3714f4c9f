"""The seal of a ledger: a small file with the newest head, outside of SQLite.

A log of SQLite that was cut or lost leaves an earlier ledger that is whole in itself. The seal
shows that finished trials are missing. It has two slots, which changes write in turn, so that a
crash can damage the newer one alone; then the seal is a change behind, which takes nothing away.
"""

from __future__ import annotations

import os
from pathlib import Path

from iostudy.durable import write_whole
from iostudy.errors import LedgerError
from iostudy.ledger.checksums import Head, checksum
from iostudy.ledger.errors import not_recorded
from iostudy.safe_path import open_regular, read_at_most

FILE_NAME = "ledger.seal"
_SLOT_BYTES = 512
"""The smallest sector of a disk, which is written whole or not at all."""
_SLOTS = 2
_KIND = "seal"


class SealWriter:
    """The seal of a ledger that is written to. Raises RecordError where that fails."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        try:
            self._file = os.fdopen(open_regular(self._path, os.O_RDWR), "r+b", buffering=0)
        except OSError as error:
            raise not_recorded(self._path, error.strerror or str(error)) from error

    def write(self, head: Head) -> None:
        """Make the head durable."""
        try:
            place = head.changes % _SLOTS * _SLOT_BYTES
            os.pwrite(self._file.fileno(), _encoded(head), place)
            os.fdatasync(self._file.fileno())
        except OSError as error:
            raise not_recorded(self._path, error.strerror or str(error)) from error

    def close(self) -> None:
        """Release the file."""
        self._file.close()


def create(folder: Path, head: Head) -> None:
    """Write the seal of a new ledger durably; RecordError where that fails."""
    path = folder / FILE_NAME
    try:
        write_whole(path, _SLOTS * _encoded(head))
    except OSError as error:
        raise not_recorded(path, error.strerror or str(error)) from error


def read(folder: Path) -> Head | None:
    """The newest head that the seal holds; None where there is no seal, or no slot is whole."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(folder / FILE_NAME, flags)
    except OSError:
        return None
    try:
        content = read_at_most(descriptor, _SLOTS * _SLOT_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    slots = (content[start : start + _SLOT_BYTES] for start in range(0, len(content), _SLOT_BYTES))
    heads = [head for slot in slots if (head := _decoded(slot)) is not None]
    return max(heads, key=lambda head: head.changes, default=None)


def require_sealed(folder: Path, seal: Head | None, head: Head) -> None:
    """LedgerError unless a ledger with this head holds all that its seal, read before, has seen.

    The ledger may be ahead: its writer was stopped before it wrote the seal, or is at work now.
    """
    where = str(folder / FILE_NAME)
    if seal is None:
        raise LedgerError(
            "the seal of the ledger",
            found="it is missing or damaged, so that trials may be missing from the ledger unseen",
            where=where,
            remedy="bring the file back from a copy of the output folder; copy ledger.sqlite, "
            "ledger.sqlite-wal and ledger.seal together",
        )
    if seal.changes > head.changes or (seal.changes == head.changes and seal != head):
        raise LedgerError(
            "a ledger with all that was recorded",
            found=f"it ends at change {head.changes}, with {head.rows} rows; its seal has seen "
            f"change {seal.changes}, with {seal.rows} rows",
            where=where,
            remedy="restore ledger.sqlite with ledger.sqlite-wal from a copy of the output folder, "
            "or run the study again in another folder with --out",
        )


def _encoded(head: Head) -> bytes:
    words = (*map(str, head.values()), checksum(_KIND, head.values()))
    return " ".join(words).ljust(_SLOT_BYTES - 1).encode() + b"\n"


def _decoded(slot: bytes) -> Head | None:
    try:
        changes, rows, total, own = slot.decode("ascii").split()
        head = Head.from_values(int(changes), int(rows), total)
    except ValueError:
        return None
    return head if own == checksum(_KIND, head.values()) else None
