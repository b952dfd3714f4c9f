"""Errors of the ledger and the translation of SQLite errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from iostudy.errors import IostudyError, LedgerError, RecordError


@contextmanager
def sqlite_errors(path: Path, refused: Callable[[Path, str], IostudyError]) -> Iterator[None]:
    """Translate SQLite errors; ``refused`` is the error of space, permissions and locks."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise refused(path, f"SQLite says: {error}") from error
    except sqlite3.DatabaseError as error:
        raise damaged_ledger(path, f"SQLite says: {error}") from error
    except UnicodeDecodeError as error:
        # SQLite quotes a damaged schema in its message, which may be invalid UTF-8.
        raise damaged_ledger(path, "the message of SQLite is not UTF-8") from error


def damaged_ledger(path: Path, found: str) -> LedgerError:
    """Return the error for content that differs from the recorded one."""
    return LedgerError(
        "an intact ledger",
        found=found,
        where=str(path),
        remedy="restore the output folder from a copy; nothing was written to it. Earlier reports "
        "in the folder remain valid. Without a copy, run the study again in another folder with "
        "--out",
    )


def write_failed(path: Path, found: str) -> RecordError:
    """Return the error for a result that could not be written."""
    return RecordError(
        "to record a result",
        found=found,
        where=str(path),
        remedy="free space on that file system; earlier records are kept, "
        "and --resume continues from there",
    )


def unreadable_ledger(path: Path, found: str) -> LedgerError:
    """Return the error for a ledger that could not be opened."""
    return LedgerError(
        "to open the ledger",
        found=found,
        where=str(path),
        remedy="check its permissions, and other programs that use the file",
    )
