"""The ledger on disk: one SQLite file in WAL mode with its seal, every commit durable."""

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
from iostudy.ledger import schema, seal
from iostudy.ledger.checksums import Head
from iostudy.ledger.encoding import (
    begun_columns,
    decoded,
    ended_columns,
    study_columns,
    study_row,
    trial_row,
)
from iostudy.ledger.errors import (
    damaged,
    not_readable,
    not_recorded,
    of_another_version,
    sqlite_errors,
)
from iostudy.ledger.rows import StudyRow, TrialRow, TrialStatus
from iostudy.ledger.schema import SCHEMA_VERSION
from iostudy.ledger.tables import SealedTables, Tables, change, write_head

FILE_NAME = "ledger.sqlite"
_SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Of the files that SQLite opens: itself, log, index of the log and rollback journal."""
_FORMAT_VERSIONS, _WAL = slice(18, 20), b"\2\2"
"""Bytes of the header that say that there is a log (sqlite.org/fileformat2.html, 1.3.3)."""


class Ledger:
    """The durable record of one study. Every method returns after its change is on disk.

    Raises LedgerError for a file that is missing, of another version or damaged (a damaged file is
    never written to), RecordError for what cannot be written down.
    """

    def __init__(self, folder: Path, tables: Tables) -> None:
        self.folder = folder
        self.tables = tables

    @classmethod
    def create(cls, folder: Path, study: StudyRow) -> Ledger:
        """Begin a ledger; LedgerError in a folder that holds one."""
        path = folder / FILE_NAME
        refuse_occupied(folder)
        _write_new(path, study)
        return cls(folder, SealedTables(path, _connect(path)))

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Ledger:
        """Open the ledger of a folder and check that every row is what was recorded.

        ``read_only`` works for those who may only read it, and on media that cannot be written.
        """
        path = folder / FILE_NAME
        if not path.is_file():
            raise LedgerError(
                "an output folder of a study",
                found=f"there is no {FILE_NAME} in it",
                where=str(folder),
                remedy="give the folder that `iostudy run` wrote, or run the study first",
            )
        if not read_only:
            _refuse_links(path)
        reader = _verified(path)
        if read_only:
            return cls(folder, reader)
        # Only now: SQLite writes to the file as soon as a writer opens it.
        reader.connection.close()
        return cls(folder, _open_writable(path))

    def close(self) -> None:
        """Release the files."""
        self.tables.connection.close()
        if isinstance(self.tables, SealedTables):
            self.tables.close()

    def study(self) -> StudyRow:
        """What was fixed before the first trial."""
        rows = self.tables.read("study")
        if len(rows) != 1:
            raise damaged(self.tables.path, f"table study has {len(rows)} rows, and must have 1")
        return decoded(self.tables.path, "study", rows[0], study_row)

    def rows(self) -> tuple[TrialRow, ...]:
        """Every trial in the order they were begun."""
        complete = {
            (row["workload"], row["block"], row["attempt"])
            for row in self.tables.read("complete_block")
        }

        def trial(row: sqlite3.Row) -> TrialRow:
            own = (row["workload"], row["block"], row["attempt"])
            return trial_row(row, counts=own in complete)

        path = self.tables.path
        return tuple(decoded(path, "trial", row, trial) for row in self.tables.read("trial"))

    def begin(self, row: TrialRow) -> int:
        """Record that a trial begins (its id is given out here) before anything is changed."""
        # A trial that only begins has no result to lose: its seal would cost a sync for nothing.
        with self._writable.changing(sealed=False) as change:
            return change.insert("trial", **begun_columns(row))

    def finish(self, row: TrialRow) -> None:
        """Record how the trial of ``row.id`` ended. A trial ends once."""
        with self._writable.changing() as change:
            begun = change.row("trial", row.id)["status"] == TrialStatus.STARTED
            assert begun, f"trial {row.id} ended twice"
            change.update("trial", row.id, **ended_columns(row))

    def complete(self, workload: str, block: int, attempt: int) -> None:
        """Record that a block is whole and valid: from now on its trials count."""
        with self._writable.changing() as change:
            change.insert("complete_block", workload=workload, block=block, attempt=attempt)

    def resume(self, started_at: float, circumstances: Mapping[str, Any]) -> None:
        """Record that the study goes on after a stop, and under which circumstances."""
        with self._writable.changing() as change:
            values = {"started_at": started_at, "circumstances": json.dumps(circumstances)}
            change.insert("resumption", **values)

    def interrupt(self, reason: str) -> int:
        """Mark the trials that were begun and never ended; how many there were."""
        rows = self.tables.read("trial")
        begun = [row["id"] for row in rows if row["status"] == TrialStatus.STARTED]
        with self._writable.changing() as change:
            for number in begun:
                change.update("trial", number, status=TrialStatus.INTERRUPTED, reason=reason)
        return len(begun)

    @property
    def _writable(self) -> SealedTables:
        return writable(self.tables)


def writable(tables: Tables) -> SealedTables:
    """The same tables; RecordError if they were opened to be read alone."""
    if not isinstance(tables, SealedTables):
        raise not_recorded(tables.path, "the ledger was opened readonly")
    return tables


def refuse_occupied(folder: Path) -> None:
    """LedgerError if the folder holds a study already."""
    if (folder / FILE_NAME).exists():
        raise LedgerError(
            "an output folder without a study",
            found="it holds one already",
            where=str(folder),
            remedy="go on with that study by --resume, or give another folder with --out",
        )


def _verified(path: Path) -> Tables:
    """The tables of a ledger, of one moment even while another process writes."""
    sealed = seal.read(path.parent)  # first, as the ledger may only get ahead of it
    tables = Tables(path, _connect_read_only(path))
    try:
        with sqlite_errors(path, not_readable):
            tables.connection.execute("BEGIN")
            _require_schema(path, tables.connection)
        seal.require_sealed(path.parent, sealed, tables.verified())
    except BaseException:
        tables.connection.close()
        raise
    return tables


def _require_schema(path: Path, connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    intact = schema.is_intact(connection)
    if version == 0 or (intact and version != SCHEMA_VERSION):
        raise damaged(path, f"the file is empty, or its header is damaged (version {version})")
    if version != SCHEMA_VERSION:
        raise of_another_version(path, version, SCHEMA_VERSION)
    if not intact:
        raise damaged(path, "its tables are not declared as they were made")


def _open_writable(path: Path) -> SealedTables:
    connection = _connect(path)
    with sqlite_errors(path, not_readable):
        check = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if check != "ok":
        connection.close()
        raise damaged(path, f"SQLite says: {check}")
    return SealedTables(path, connection)


def _connect(path: Path) -> sqlite3.Connection:
    _refuse_links(path)
    with sqlite_errors(path, not_readable):
        connection = _prepared(sqlite3.connect(path))
        # In WAL mode only FULL syncs at every commit, which is what makes a trial durable.
        connection.execute("PRAGMA synchronous = FULL")
    return connection


def _refuse_links(path: Path) -> None:
    """LedgerError for a file that SQLite would write to elsewhere: a link, or a second name."""
    for file in (path.with_name(path.name + suffix) for suffix in _SQLITE_SUFFIXES):
        with suppress(FileNotFoundError):
            status = file.lstat()
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                raise LedgerError(
                    "a ledger that is a file of its own",
                    found="a link, a file with several names or no regular file",
                    where=str(file),
                    remedy="see who has put it there; copy the folder, and resume in the copy",
                )


def _connect_read_only(path: Path) -> sqlite3.Connection:
    """Without a log beside it nobody writes to the file, and SQLite may take it for immutable.

    Then it needs to make no file of its own (sqlite.org/wal.html, "Read-Only Databases").
    """
    is_written_to = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro" if is_written_to else "mode=ro&immutable=1"
    with sqlite_errors(path, not_readable):
        return _prepared(sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True))


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.row_factory = sqlite3.Row
    # Damaged text comes back changed, not as an error, so that its checksum names the row.
    connection.text_factory = lambda text: text.decode(errors="surrogateescape")
    return connection


def _write_new(path: Path, study: StudyRow) -> None:
    """Make it in memory and write it whole: never half a ledger, and through no link."""
    with sqlite_errors(path, not_recorded), closing(sqlite3.connect(":memory:")) as connection:
        _prepared(connection).executescript(schema.SCHEMA)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        empty = write_head(connection, Head())
        connection.commit()
        with change(path, connection, empty) as first:
            first.insert("study", **study_columns(study))
        image = bytearray(connection.serialize())
        image[_FORMAT_VERSIONS] = _WAL
        seal.create(path.parent, first.head)
        write_whole(path, bytes(image))
