"""Checked reads and sealed writes of the ledger's tables."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

from iostudy.errors import LedgerError
from iostudy.ledger.errors import damaged_ledger, sqlite_errors, unreadable_ledger, write_failed
from iostudy.ledger.seal import Head, SealWriter, checksum

_HEAD = "head"
_MAX_NAMED_ROWS = 5
"""Most damaged rows that an error names."""


class Tables:
    """The rows of a ledger. Reads verify checksums; LedgerError names a damaged row."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    def read(self, table: str) -> list[sqlite3.Row]:
        """Return all rows of a table in key order; the first column is the key."""
        with sqlite_errors(self.path, unreadable_ledger):
            rows = self._cursor(table).fetchall()
        if wrong := [f"{table} {row[0]}" for row in rows if not _is_intact(table, row)]:
            raise damaged_ledger(self.path, _list_damaged_rows(wrong))
        return rows

    def read_one(self, table: str) -> sqlite3.Row:
        """Return the only row of a table; LedgerError for none and for several."""
        rows = self.read(table)
        if len(rows) != 1:
            raise damaged_ledger(self.path, f"table {table} has {len(rows)} rows, and must have 1")
        return rows[0]

    def transaction(self, *, sealed: bool = True) -> AbstractContextManager[LedgerTransaction]:
        """Raise RecordError: a ledger is writable if it was opened for that."""
        raise write_failed(self.path, "the ledger was opened readonly")

    def close(self) -> None:
        """Release the database."""
        self.connection.close()

    def verify(self) -> Head:
        """Verify every row and return the head; LedgerError names damaged or missing rows."""
        wrong, intact, head = list[str](), list[str](), Head()
        for table in TABLES:
            rows, stopped = self._readable(table)
            bad = {row[0] for row in rows if not _is_intact(table, row)}
            wrong += [f"{table} {key}" for key in bad]
            wrong += [f"{table} after row {len(rows)}: {stopped}"] if stopped else []
            intact.append(f"{len(rows) - len(bad)} of {table}")
            if table != _HEAD and not wrong:
                for row in rows:
                    head = head.with_row(row["checksum"])
        if wrong:
            raise damaged_ledger(
                self.path, f"{_list_damaged_rows(wrong)}; intact rows: {', '.join(intact)}"
            )
        stored = self.stored_head()
        if (stored.rows, stored.total) != (head.rows, head.total):
            counts = f"{head.rows} rows, each intact; the head counts {stored.rows}"
            raise damaged_ledger(self.path, f"{counts}: rows are lost, duplicated or outdated")
        return stored

    def stored_head(self) -> Head:
        """Return the stored head; LedgerError if it is missing or damaged."""
        row = self.read_one(_HEAD)
        return Head.from_values(row["changes"], row["rows"], row["total"])

    def _readable(self, table: str) -> tuple[list[sqlite3.Row], str]:
        """Return the rows before the first unreadable one, and its error."""
        rows: list[sqlite3.Row] = []
        try:
            with sqlite_errors(self.path, damaged_ledger):
                for row in self._cursor(table):
                    rows.append(row)  # noqa: PERF402 - those before an error are kept
        except LedgerError as error:
            return rows, error.found
        return rows, ""

    def _cursor(self, table: str) -> sqlite3.Cursor:
        # Only the table itself: an index repeats columns without a checksum of its own.
        return self.connection.execute(
            f"SELECT rowid AS key, * FROM {table} NOT INDEXED ORDER BY rowid"
        )


class SealedTables(Tables):
    """The tables of a ledger opened for writing."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._head = self.stored_head()
        self._seal = SealWriter(path.parent)

    @contextmanager
    def transaction(self, *, sealed: bool = True) -> Iterator[LedgerTransaction]:
        """Open a transaction, durable at the end of the context; ``sealed`` updates the seal."""
        with begin_transaction(self.path, self.connection, self._head) as changed:
            yield changed
        if changed.head != self._head:
            self._head = changed.head
            if sealed:
                self._seal.write(self._head)

    def close(self) -> None:
        """Release database and seal."""
        super().close()
        self._seal.close()


class LedgerTransaction:
    """Writer of rows with checksums in one transaction."""

    def __init__(self, tables: Tables, head: Head) -> None:
        self._tables = tables
        self._connection = tables.connection
        self.head = head

    def insert(self, table: str, **values: Any) -> int:
        """Add a row and return its key."""
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        cursor = self._connection.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values())
        )
        assert cursor.lastrowid is not None
        self._sign(table, cursor.lastrowid)
        return cursor.lastrowid

    def update(self, table: str, key: int, **values: Any) -> None:
        """Replace values of the row with this key."""
        self.head = self.head.without_row(self.row(table, key)["checksum"])
        names = ", ".join(f"{name}=?" for name in values)
        self._connection.execute(
            f"UPDATE {table} SET {names} WHERE rowid=?", (*values.values(), key)
        )
        self._sign(table, key)

    def _sign(self, table: str, key: int) -> None:
        # Over the values as SQLite returns them, because a column may convert them.
        digest = checksum(table, _content(self.row(table, key)))
        self._connection.execute(f"UPDATE {table} SET checksum=? WHERE rowid=?", (digest, key))
        self.head = self.head.with_row(digest)

    def row(self, table: str, key: int) -> sqlite3.Row:
        """Return the row with this key."""
        query = f"SELECT rowid AS key, * FROM {table} WHERE rowid=?"
        row: sqlite3.Row = self._connection.execute(query, (key,)).fetchone()
        return row


@contextmanager
def begin_transaction(
    path: Path, connection: sqlite3.Connection, head: Head
) -> Iterator[LedgerTransaction]:
    """Open a transaction on a ledger with this head; LedgerError after another process's write.

    The `LedgerTransaction` has the new head afterwards, or the old one without any change.
    """
    tables = Tables(path, connection)
    with sqlite_errors(path, write_failed), connection:
        connection.execute("BEGIN IMMEDIATE")
        if tables.stored_head() != head:
            raise LedgerError(
                "a ledger that only this process writes",
                found="another process has written to it",
                where=str(path),
                remedy="end the other process, then continue with --resume",
            )
        changed = LedgerTransaction(tables, head)
        yield changed
        if changed.head != head:
            changed.head = write_head(connection, changed.head)


def write_head(connection: sqlite3.Connection, head: Head) -> Head:
    """Replace the head of the ledger by one with the next change number, and return it."""
    new = Head(head.changes + 1, head.rows, head.total)
    connection.execute("DELETE FROM head")
    values = (*new.values(), checksum(_HEAD, new.values()))
    connection.execute("INSERT INTO head VALUES (?, ?, ?, ?)", values)
    return new


def _is_intact(table: str, row: sqlite3.Row) -> bool:
    return bool(row["checksum"] == checksum(table, _content(row)))


def _content(row: sqlite3.Row) -> tuple[Any, ...]:
    """Return all columns but the key (first) and the checksum (last)."""
    return tuple(row)[1:-1]


def _list_damaged_rows(wrong: Sequence[str]) -> str:
    more = f" and {len(wrong) - _MAX_NAMED_ROWS} more" if len(wrong) > _MAX_NAMED_ROWS else ""
    return f"damaged (row of table): {', '.join(wrong[:_MAX_NAMED_ROWS])}{more}"


SCHEMA_VERSION = 10

SCHEMA = """
CREATE TABLE head (
  changes INTEGER NOT NULL, rows INTEGER NOT NULL, total TEXT NOT NULL, checksum TEXT NOT NULL
);
CREATE TABLE study (
  name TEXT NOT NULL, text TEXT NOT NULL, root INTEGER NOT NULL, offered TEXT NOT NULL,
  left_out TEXT NOT NULL,
  seed TEXT NOT NULL, started_at REAL NOT NULL, iostudy_version TEXT NOT NULL,
  circumstances TEXT NOT NULL, checksum TEXT NOT NULL DEFAULT ''
);
CREATE TABLE resumption (
  started_at REAL NOT NULL, circumstances TEXT NOT NULL, checksum TEXT NOT NULL DEFAULT ''
);
CREATE TABLE trial (
  id INTEGER PRIMARY KEY, block INTEGER NOT NULL, attempt INTEGER NOT NULL,
  position INTEGER NOT NULL, workload TEXT NOT NULL, configuration TEXT NOT NULL,
  status TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', started_at REAL NOT NULL,
  figures TEXT, settings TEXT, devices TEXT NOT NULL DEFAULT '[]', seen TEXT, phases TEXT,
  notes TEXT NOT NULL DEFAULT '[]', telemetry TEXT NOT NULL DEFAULT '',
  telemetry_sha256 TEXT NOT NULL DEFAULT '', latencies TEXT, parts TEXT NOT NULL DEFAULT '[]',
  checksum TEXT NOT NULL DEFAULT '',
  UNIQUE (workload, block, attempt, position)
);
CREATE TABLE complete_block (
  workload TEXT NOT NULL, block INTEGER NOT NULL, attempt INTEGER NOT NULL,
  checksum TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workload, block)
);
CREATE TABLE given_up (
  workload TEXT NOT NULL, resumption INTEGER NOT NULL, block INTEGER NOT NULL,
  attempts INTEGER NOT NULL, reason TEXT NOT NULL, disturbed INTEGER NOT NULL,
  checksum TEXT NOT NULL DEFAULT ''
);
CREATE TABLE time_limit (
  resumption INTEGER NOT NULL, seconds REAL NOT NULL, checksum TEXT NOT NULL DEFAULT ''
);
CREATE TABLE candidate (
  number INTEGER PRIMARY KEY, round INTEGER NOT NULL, label TEXT NOT NULL UNIQUE,
  point TEXT NOT NULL, refused TEXT NOT NULL, checksum TEXT NOT NULL DEFAULT ''
);
CREATE TABLE outcome (winner TEXT, checksum TEXT NOT NULL DEFAULT '');
CREATE TABLE pilot (
  workload TEXT PRIMARY KEY, plan TEXT NOT NULL, checksum TEXT NOT NULL DEFAULT ''
);
CREATE TABLE run (
  id INTEGER PRIMARY KEY, workload TEXT NOT NULL, started_at REAL NOT NULL,
  settings TEXT NOT NULL, devices TEXT NOT NULL, summary TEXT NOT NULL, notes TEXT NOT NULL,
  telemetry TEXT NOT NULL, telemetry_sha256 TEXT NOT NULL, checksum TEXT NOT NULL DEFAULT ''
);
CREATE TABLE window (
  id INTEGER PRIMARY KEY, workload TEXT NOT NULL, block INTEGER NOT NULL,
  round INTEGER NOT NULL, position INTEGER NOT NULL, configuration TEXT NOT NULL,
  previous TEXT NOT NULL, start REAL NOT NULL, seconds REAL NOT NULL, operations INTEGER NOT NULL,
  figures TEXT NOT NULL, checksum TEXT NOT NULL DEFAULT '',
  UNIQUE (workload, block, round, position)
);
"""
TABLES = re.findall(r"CREATE TABLE (\w+)", SCHEMA)
"""The head, and the tables whose rows it covers."""


def is_intact(connection: sqlite3.Connection) -> bool:
    """Return whether the file declares exactly the tables of `SCHEMA`."""
    with closing(sqlite3.connect(":memory:")) as model:
        model.executescript(SCHEMA)
        return _objects(connection) == _objects(model)


def _objects(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")
    return [tuple(row) for row in rows]
