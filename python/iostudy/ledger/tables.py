"""Checked reads and sealed writes of the ledger's tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from iostudy.errors import LedgerError
from iostudy.ledger.checksums import Head, checksum
from iostudy.ledger.errors import (
    changed_by_another,
    damaged,
    not_readable,
    not_recorded,
    sqlite_errors,
)
from iostudy.ledger.schema import TABLES
from iostudy.ledger.seal import SealWriter

_HEAD = "head"
_MOST_NAMED = 5
"""Damaged rows that an error names; it counts the others."""


class Tables:
    """The rows of a ledger. What is read is what was recorded, or LedgerError names the row."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    def read(self, table: str) -> list[sqlite3.Row]:
        """All rows of a table in the order of their keys; the first column is the key."""
        with sqlite_errors(self.path, not_readable):
            rows = self._scan(table)
        if wrong := [f"{table} {row[0]}" for row in rows if not _is_whole(table, row)]:
            raise damaged(self.path, _named(wrong))
        return rows

    def verified(self) -> Head:
        """The head, after every row was checked; LedgerError names what is damaged or missing."""
        wrong, intact, head = list[str](), list[str](), Head()
        for table in (_HEAD, *TABLES):
            rows, stopped = self._readable(table)
            bad = {row[0] for row in rows if not _is_whole(table, row)}
            wrong += [f"{table} {key}" for key in bad]
            wrong += [f"{table} after row {len(rows)}: {stopped}"] if stopped else []
            intact.append(f"{len(rows) - len(bad)} of {table}")
            if table != _HEAD and not wrong:
                for row in rows:
                    head = head.with_row(row["checksum"])
        if wrong:
            raise damaged(self.path, f"{_named(wrong)}; intact rows: {', '.join(intact)}")
        return self._agreeing(head)

    def own_head(self) -> Head:
        """The head as the ledger holds it; LedgerError if it is missing or damaged."""
        rows = self.read(_HEAD)
        if len(rows) != 1:
            raise damaged(self.path, f"table {_HEAD} has {len(rows)} rows, and must have 1")
        row = rows[0]
        return Head.from_values(row["changes"], row["rows"], row["total"])

    def _agreeing(self, found: Head) -> Head:
        own = self.own_head()
        if (own.rows, own.total) != (found.rows, found.total):
            counts = f"{found.rows} rows, of which each is whole; the head counts {own.rows}"
            raise damaged(self.path, f"{counts}: rows are lost, doubled or outdated")
        return own

    def _readable(self, table: str) -> tuple[list[sqlite3.Row], str]:
        """The rows up to the first that SQLite cannot read, and what it says of that one."""
        rows: list[sqlite3.Row] = []
        try:
            with sqlite_errors(self.path, damaged):
                for row in self._cursor(table):
                    rows.append(row)  # noqa: PERF402 - those before an error are kept
        except LedgerError as error:
            return rows, error.found
        return rows, ""

    def _scan(self, table: str) -> list[sqlite3.Row]:
        return self._cursor(table).fetchall()

    def _cursor(self, table: str) -> sqlite3.Cursor:
        # Only the table itself: an index repeats columns without a checksum of its own.
        return self.connection.execute(
            f"SELECT rowid AS key, * FROM {table} NOT INDEXED ORDER BY rowid"
        )


class SealedTables(Tables):
    """The tables of a ledger that this process writes to."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        super().__init__(path, connection)
        self._head = self.own_head()
        self._seal = SealWriter(path.parent)

    @contextmanager
    def changing(self, *, sealed: bool = True) -> Iterator[Change]:
        """A transaction, on disk at the end of the context; with its seal, if that is wanted."""
        with change(self.path, self.connection, self._head) as changed:
            yield changed
        if changed.head != self._head:
            self._head = changed.head
            if sealed:
                self._seal.write(self._head)

    def close(self) -> None:
        """Release the seal."""
        self._seal.close()


class Change:
    """Rows written in one transaction, each with its checksum."""

    def __init__(self, tables: Tables, head: Head) -> None:
        self._tables = tables
        self._connection = tables.connection
        self.head = head

    def insert(self, table: str, **values: Any) -> int:
        """Add a row; its key."""
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        cursor = self._connection.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values())
        )
        assert cursor.lastrowid is not None
        self._sign(table, cursor.lastrowid)
        return cursor.lastrowid

    def update(self, table: str, key: int, **values: Any) -> None:
        """Replace values of the row with that key."""
        self.head = self.head.without_row(self.row(table, key)["checksum"])
        names = ", ".join(f"{name}=?" for name in values)
        self._connection.execute(
            f"UPDATE {table} SET {names} WHERE rowid=?", (*values.values(), key)
        )
        self._sign(table, key)

    def _sign(self, table: str, key: int) -> None:
        # Over the values as SQLite gives them back, since a column may have converted them.
        own = checksum(table, _content(self.row(table, key)))
        self._connection.execute(f"UPDATE {table} SET checksum=? WHERE rowid=?", (own, key))
        self.head = self.head.with_row(own)

    def row(self, table: str, key: int) -> sqlite3.Row:
        """The row with that key."""
        query = f"SELECT rowid AS key, * FROM {table} WHERE rowid=?"
        row: sqlite3.Row = self._connection.execute(query, (key,)).fetchone()
        return row


@contextmanager
def change(path: Path, connection: sqlite3.Connection, head: Head) -> Iterator[Change]:
    """A transaction on a ledger with that head; LedgerError if another process has written to it.

    The `Change` has the new head afterwards; without a change of any row it is the old one.
    """
    tables = Tables(path, connection)
    with sqlite_errors(path, not_recorded), connection:
        connection.execute("BEGIN IMMEDIATE")
        if tables.own_head() != head:
            raise changed_by_another(path)
        changed = Change(tables, head)
        yield changed
        if changed.head != head:
            changed.head = write_head(connection, changed.head)


def write_head(connection: sqlite3.Connection, head: Head) -> Head:
    """Replace the head of the ledger by one with another change counted; that one."""
    new = Head(head.changes + 1, head.rows, head.total)
    connection.execute("DELETE FROM head")
    values = (*new.values(), checksum(_HEAD, new.values()))
    connection.execute("INSERT INTO head VALUES (?, ?, ?, ?)", values)
    return new


def _is_whole(table: str, row: sqlite3.Row) -> bool:
    return bool(row["checksum"] == checksum(table, _content(row)))


def _content(row: sqlite3.Row) -> tuple[Any, ...]:
    """All columns but the key, which comes first, and the checksum, which comes last."""
    return tuple(row)[1:-1]


def _named(wrong: Sequence[str]) -> str:
    more = f" and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
    return f"damaged (row of table): {', '.join(wrong[:_MOST_NAMED])}{more}"
