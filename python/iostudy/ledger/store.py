"""Ledger on disk: one SQLite file in WAL mode with a seal and durable commits."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from iostudy.durable import write_whole
from iostudy.errors import LedgerError
from iostudy.ledger import seal, tables
from iostudy.ledger.encoding import (
    decode_row,
    decode_rows,
    decode_study,
    decode_trial,
    encode_study,
    encode_trial_end,
    encode_trial_start,
)
from iostudy.ledger.errors import damaged_ledger, sqlite_errors, unreadable_ledger, write_failed
from iostudy.ledger.rows import StudyRow, TrialRow, TrialStatus
from iostudy.ledger.seal import Head
from iostudy.ledger.tables import (
    SCHEMA_VERSION,
    SealedTables,
    Tables,
    begin_transaction,
    write_head,
)

FILE_NAME = "ledger.sqlite"
_SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite opens: database, log, log index, rollback journal."""
_FORMAT_VERSIONS, _WAL = slice(18, 20), b"\2\2"
"""Header bytes that declare WAL mode (sqlite.org/fileformat2.html, 1.3.3)."""


class Ledger:
    """The durable record of one study. Every change is on disk when a method returns.

    Raises LedgerError for a file that is missing, of another version or damaged (a damaged file is
    never written), RecordError if a write fails.
    """

    def __init__(self, folder: Path, tables: Tables) -> None:
        self.folder = folder
        self.tables = tables

    @classmethod
    def create(cls, folder: Path, study: StudyRow) -> Ledger:
        """Create a ledger; LedgerError in a folder that contains one."""
        path = folder / FILE_NAME
        refuse_existing_study(folder)
        _write_new(path, study)
        return cls(folder, SealedTables(path, _connect(path)))

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Ledger:
        """Open the ledger of a folder and verify every row.

        ``read_only`` needs no write permission and works on read-only media.
        """
        path = folder / FILE_NAME
        if not path.is_file():
            raise LedgerError(
                "an output folder of a study",
                found=f"there is no {FILE_NAME} in it" if folder.exists() else "it does not exist",
                where=str(folder),
                remedy="give the output folder of `iostudy run`, or run the study first",
            )
        _refuse_links(path, written_to=not read_only)
        reader = _open_verified(path)
        if read_only:
            return cls(folder, reader)
        # Only now: SQLite writes to the file as soon as a writer opens it.
        reader.connection.close()
        return cls(folder, _open_writable(path))

    def close(self) -> None:
        """Release the files."""
        self.tables.close()

    def study(self) -> StudyRow:
        """Return the record of the study."""
        row = self.tables.read_one("study")
        return decode_row(self.tables.path, "study", row, decode_study)

    def rows(self) -> tuple[TrialRow, ...]:
        """Return every trial in the order of their starts."""
        complete = {
            (row["workload"], row["block"], row["attempt"])
            for row in self.tables.read("complete_block")
        }

        def trial(row: sqlite3.Row) -> TrialRow:
            key = (row["workload"], row["block"], row["attempt"])
            return decode_trial(row, counts=key in complete)

        return decode_rows(self.tables, "trial", trial)

    def begin(self, row: TrialRow) -> int:
        """Record the start of a trial before any change; return its new id."""
        # A started trial has no result to lose, so the sync of its seal is saved.
        with self.tables.transaction(sealed=False) as change:
            return change.insert("trial", **encode_trial_start(row))

    def finish(self, row: TrialRow) -> None:
        """Record the end of the trial ``row.id``, once."""
        with self.tables.transaction() as change:
            begun = change.row("trial", row.id)["status"] == TrialStatus.STARTED
            assert begun, f"trial {row.id} ended twice"
            change.update("trial", row.id, **encode_trial_end(row))

    def complete(self, workload: str, block: int, attempt: int) -> None:
        """Record that a block is complete and valid, so that its trials count."""
        with self.tables.transaction() as change:
            change.insert("complete_block", workload=workload, block=block, attempt=attempt)

    def resume(self, started_at: float, circumstances: Mapping[str, Any]) -> None:
        """Record a resumption of the study with its circumstances."""
        with self.tables.transaction() as change:
            values = {"started_at": started_at, "circumstances": json.dumps(circumstances)}
            change.insert("resumption", **values)

    def interrupt(self, reason: str) -> int:
        """Mark started trials without an end as interrupted; return their number."""
        rows = self.tables.read("trial")
        begun = [row["id"] for row in rows if row["status"] == TrialStatus.STARTED]
        with self.tables.transaction() as change:
            for number in begun:
                change.update("trial", number, status=TrialStatus.INTERRUPTED, reason=reason)
        return len(begun)


def refuse_existing_study(folder: Path) -> None:
    """Raise LedgerError if the folder already contains a study."""
    if (folder / FILE_NAME).exists():
        raise LedgerError(
            "an output folder without a study",
            found="it already contains one",
            where=str(folder),
            remedy="resume that study with --resume, or give another folder with --out",
        )


def _open_verified(path: Path) -> Tables:
    """Open a consistent snapshot of a ledger's tables and verify it, also during writes."""
    sealed = seal.read(path.parent)  # first, as the ledger may only get ahead of it
    tables = Tables(path, _connect_read_only(path))
    try:
        with sqlite_errors(path, unreadable_ledger):
            tables.connection.execute("BEGIN")
            _require_schema(path, tables.connection)
        seal.check_seal(path.parent, sealed, tables.verify())
    except BaseException:
        tables.connection.close()
        raise
    return tables


def _require_schema(path: Path, connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    intact = tables.is_intact(connection)
    if version == 0 or (intact and version != SCHEMA_VERSION):
        raise damaged_ledger(
            path, f"the file is empty, or its header is damaged (version {version})"
        )
    if version != SCHEMA_VERSION:
        is_older = version < SCHEMA_VERSION
        tool = "the iostudy that wrote it" if is_older else "that one"
        raise LedgerError(
            f"a ledger of version {SCHEMA_VERSION}",
            found=f"it is of version {version}, of {'an older' if is_older else 'a newer'} iostudy",
            where=str(path),
            remedy="report.html next to it still reports that study; read or resume it with "
            f"{tool}, or run it again in another folder with --out",
        )
    if not intact:
        raise damaged_ledger(path, "its schema differs from the original one")


def _open_writable(path: Path) -> SealedTables:
    connection = _connect(path)
    with sqlite_errors(path, unreadable_ledger):
        check = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if check != "ok":
        connection.close()
        raise damaged_ledger(path, f"SQLite says: {check}")
    return SealedTables(path, connection)


def _connect(path: Path) -> sqlite3.Connection:
    _refuse_links(path, written_to=True)
    with sqlite_errors(path, unreadable_ledger):
        connection = _configure_connection(sqlite3.connect(path))
        # In WAL mode only FULL syncs at every commit, which is what makes a trial durable.
        connection.execute("PRAGMA synchronous = FULL")
    return connection


def _refuse_links(path: Path, *, written_to: bool) -> None:
    """Raise LedgerError for a symbolic link, or for several hard links of a file to write to."""
    for file in (path.with_name(path.name + suffix) for suffix in _SQLITE_SUFFIXES):
        with suppress(FileNotFoundError):
            status = file.lstat()
            if not stat.S_ISREG(status.st_mode) or (written_to and status.st_nlink > 1):
                raise LedgerError(
                    "a ledger that is a regular file with one name",
                    found="a link, a file with several names, or not a regular file",
                    where=str(file),
                    remedy="find out who created it; copy the folder, and resume in the copy",
                )


def _connect_read_only(path: Path) -> sqlite3.Connection:
    """Connect read-only; without a log the file is immutable and SQLite creates no other file.

    See sqlite.org/wal.html, "Read-Only Databases".
    """
    is_written_to = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro" if is_written_to else "mode=ro&immutable=1"
    with sqlite_errors(path, unreadable_ledger):
        return _configure_connection(
            sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)
        )


def _configure_connection(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.row_factory = sqlite3.Row
    # Damaged text comes back changed, not as an error, so that its checksum names the row.
    connection.text_factory = lambda text: text.decode(errors="surrogateescape")
    return connection


def _write_new(path: Path, study: StudyRow) -> None:
    """Create the ledger in memory and write it atomically, without following links."""
    with sqlite_errors(path, write_failed), closing(sqlite3.connect(":memory:")) as connection:
        _configure_connection(connection).executescript(tables.SCHEMA)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        empty = write_head(connection, Head())
        connection.commit()
        with begin_transaction(path, connection, empty) as first:
            first.insert("study", **encode_study(study))
        image = bytearray(connection.serialize())
        image[_FORMAT_VERSIONS] = _WAL
        seal.create(path.parent, first.head)
        write_whole(path, bytes(image))
