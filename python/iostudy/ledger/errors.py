"""Errors of the ledger, and their translation from SQLite's."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from iostudy.errors import IostudyError, LedgerError, RecordError


@contextmanager
def sqlite_errors(path: Path, refused: Callable[[Path, str], IostudyError]) -> Iterator[None]:
    """``refused`` names what the system does not allow (room, permissions, locks)."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise refused(path, f"SQLite says: {error}") from error
    except sqlite3.DatabaseError as error:
        raise damaged(path, f"SQLite says: {error}") from error
    except UnicodeDecodeError as error:
        # SQLite quotes a damaged schema in its message, which is no text then.
        raise damaged(path, "SQLite's message about it is not UTF-8") from error


def damaged(path: Path, found: str) -> LedgerError:
    """The error for content that differs from what was recorded."""
    return LedgerError(
        "a whole ledger",
        found=found,
        where=str(path),
        remedy="restore the output folder from a copy; nothing was written to it. Earlier reports "
        "in the folder stay valid. Without a copy, run the study again in another folder with "
        "--out",
    )


def not_recorded(path: Path, found: str) -> RecordError:
    """The error for a result that the system did not let be written."""
    return RecordError(
        "to record what was done",
        found=found,
        where=str(path),
        remedy="make room on that file system; what was recorded before is kept, "
        "and --resume goes on from there",
    )


def not_readable(path: Path, found: str) -> LedgerError:
    """The error for a ledger that the system did not let be opened."""
    return LedgerError(
        "to open the ledger",
        found=found,
        where=str(path),
        remedy="see to its permissions, and to other programs that hold the file",
    )


def of_another_version(path: Path, version: int, own: int) -> LedgerError:
    """The forms differ in what is kept of a trial, so that none stands for another."""
    if version < own:
        found, tool = "of an older iostudy", "the iostudy that wrote it"
    else:
        found, tool = "of a newer iostudy", "that one"
    return LedgerError(
        f"a ledger of version {own}",
        found=f"it is of version {version}, {found}",
        where=str(path),
        remedy=f"report.html beside it still tells that study; read or resume it with {tool}, "
        "or run it anew in another folder with --out",
    )


def changed_by_another(path: Path) -> LedgerError:
    """The error for a second writer of one ledger."""
    return LedgerError(
        "a ledger that this process alone writes to",
        found="another process has written to it meanwhile",
        where=str(path),
        remedy="end the other process, then continue with --resume",
    )
