"""The ledger on disk: one SQLite file in WAL mode, every commit durable, and Parquet beside it."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from iostudy.durable import write_whole
from iostudy.errors import IostudyError, LedgerError, RecordError
from iostudy.ledger.rows import StudyRow, TrialRow, TrialStatus
from iostudy.telemetry.block_requests import BlockRequests
from iostudy.telemetry.seen import Foreign, Seen
from iostudy.workloads.definition import Histogram, Part

FILE_NAME = "ledger.sqlite"
_SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Of the files that SQLite opens: itself, log, index of the log and rollback journal."""
_FORMAT_VERSIONS, _WAL = slice(18, 20), b"\2\2"
"""Bytes of the header that say that there is a log (sqlite.org/fileformat2.html, 1.3.3)."""
SCHEMA_VERSION = 6

_SCHEMA = """
CREATE TABLE study (
  name TEXT NOT NULL, text TEXT NOT NULL, root INTEGER NOT NULL, offered TEXT NOT NULL,
  left_out TEXT NOT NULL,
  seed TEXT NOT NULL, started_at REAL NOT NULL, iostudy_version TEXT NOT NULL,
  circumstances TEXT NOT NULL
);
CREATE TABLE resumption (started_at REAL NOT NULL, circumstances TEXT NOT NULL);
CREATE TABLE trial (
  id INTEGER PRIMARY KEY, block INTEGER NOT NULL, attempt INTEGER NOT NULL,
  position INTEGER NOT NULL, workload TEXT NOT NULL, configuration TEXT NOT NULL,
  status TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', started_at REAL NOT NULL,
  figures TEXT, settings TEXT, devices TEXT NOT NULL DEFAULT '[]', seen TEXT, phases TEXT,
  notes TEXT NOT NULL DEFAULT '[]', telemetry TEXT NOT NULL DEFAULT '',
  latencies TEXT, parts TEXT NOT NULL DEFAULT '[]',
  UNIQUE (workload, block, attempt, position)
);
CREATE TABLE complete_block (
  workload TEXT NOT NULL, block INTEGER NOT NULL, attempt INTEGER NOT NULL,
  PRIMARY KEY (workload, block)
);
CREATE TABLE candidate (
  number INTEGER PRIMARY KEY, round INTEGER NOT NULL, label TEXT NOT NULL UNIQUE,
  point TEXT NOT NULL, refused TEXT NOT NULL
);
CREATE TABLE outcome (winner TEXT);
"""
_ROWS = """
SELECT trial.*, complete_block.attempt IS NOT NULL AS counts FROM trial
LEFT JOIN complete_block USING (workload, block, attempt) ORDER BY trial.id
"""


class Ledger:
    """The durable record of one study. Every method returns after its change is on disk.

    Raises LedgerError for a file that is missing, of another version or damaged (a damaged file is
    never written to), RecordError for what cannot be written down.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._connection = connection

    @classmethod
    def create(cls, folder: Path, study: StudyRow) -> Ledger:
        """Begin a ledger; LedgerError in a folder that holds one."""
        path = folder / FILE_NAME
        refuse_occupied(folder)
        _write_new(path, study)
        return cls(folder, _connect(path))

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Ledger:
        """Open the ledger of a folder and check that it is whole.

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
        ledger = cls(folder, _connect_read_only(path) if read_only else _connect(path))
        with ledger.reading() as connection:
            check = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        if check != "ok" or version == 0:
            raise _damaged(path, check if check != "ok" else "the file is empty")
        if version != SCHEMA_VERSION:
            raise _of_another_version(path, version)
        return ledger

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def study(self) -> StudyRow:
        """What was fixed before the first trial."""
        with self.reading() as connection:
            row = connection.execute("SELECT * FROM study").fetchone()
        offered = {name: tuple(levels) for name, levels in json.loads(row["offered"]).items()}
        return StudyRow(
            name=row["name"],
            text=row["text"],
            root=bool(row["root"]),
            offered=offered,
            left_out=json.loads(row["left_out"]),
            seed=int(row["seed"]),
            started_at=row["started_at"],
            iostudy_version=row["iostudy_version"],
            circumstances=json.loads(row["circumstances"]),
        )

    def rows(self) -> tuple[TrialRow, ...]:
        """Every trial in the order they were begun."""
        with self.reading() as connection:
            return tuple(_trial_row(row) for row in connection.execute(_ROWS))

    def begin(self, row: TrialRow) -> int:
        """Record that a trial begins (its id is given out here) before anything is changed."""
        values = (
            row.block,
            row.attempt,
            row.position,
            row.workload,
            row.configuration,
            TrialStatus.STARTED,
            row.started_at,
        )
        with self.changing() as connection:
            cursor = connection.execute(
                "INSERT INTO trial (block, attempt, position, workload, configuration, status,"
                " started_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                values,
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def finish(self, row: TrialRow) -> None:
        """Record how the trial of ``row.id`` ended. A trial ends once."""
        seen = None if row.seen is None else asdict(row.seen)
        values = (
            row.status,
            row.reason,
            *(_json(v) for v in (row.figures, row.settings, seen, row.phases)),
            json.dumps(row.notes),
            row.telemetry,
            json.dumps(row.devices),
            _json(row.latencies),
            json.dumps([[dict(part.labels), dict(part.figures)] for part in row.parts]),
            row.id,
            TrialStatus.STARTED,
        )
        with self.changing() as connection:
            cursor = connection.execute(
                "UPDATE trial SET status=?, reason=?, figures=?, settings=?, seen=?, phases=?,"
                " notes=?, telemetry=?, devices=?, latencies=?, parts=?"
                " WHERE id=? AND status=?",
                values,
            )
        assert cursor.rowcount == 1, f"trial {row.id} ended twice"

    def complete(self, workload: str, block: int, attempt: int) -> None:
        """Record that a block is whole and valid: from now on its trials count."""
        with self.changing() as connection:
            connection.execute(
                "INSERT INTO complete_block VALUES (?, ?, ?)", (workload, block, attempt)
            )

    def resume(self, started_at: float, circumstances: Mapping[str, Any]) -> None:
        """Record that the study goes on after a stop, and under which circumstances."""
        with self.changing() as connection:
            values = (started_at, json.dumps(circumstances))
            connection.execute("INSERT INTO resumption VALUES (?, ?)", values)

    def interrupt(self, reason: str) -> int:
        """Mark the trials that were begun and never ended; how many there were."""
        with self.changing() as connection:
            cursor = connection.execute(
                "UPDATE trial SET status=?, reason=? WHERE status=?",
                (TrialStatus.INTERRUPTED, reason, TrialStatus.STARTED),
            )
        return cursor.rowcount

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, on disk at the end of the context."""
        path = self.folder / FILE_NAME
        with _named_errors(path, _not_recorded), self._connection:
            yield self._connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, to read what is there."""
        with _named_errors(self.folder / FILE_NAME, _not_readable):
            yield self._connection


def refuse_occupied(folder: Path) -> None:
    """LedgerError if the folder holds a study already."""
    if (folder / FILE_NAME).exists():
        raise LedgerError(
            "an output folder without a study",
            found="it holds one already",
            where=str(folder),
            remedy="go on with that study by --resume, or give another folder with --out",
        )


def _connect(path: Path) -> sqlite3.Connection:
    _refuse_links(path)
    with _named_errors(path, _not_readable):
        connection = sqlite3.connect(path)
        connection.row_factory = sqlite3.Row
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
    with _named_errors(path, _not_readable):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)
        connection.row_factory = sqlite3.Row
    return connection


def _write_new(path: Path, study: StudyRow) -> None:
    """Make it in memory and write it whole: never half a ledger, and through no link."""
    with _named_errors(path, _not_recorded), closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("INSERT INTO study VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _encoded(study))
        connection.commit()
        image = bytearray(connection.serialize())
        image[_FORMAT_VERSIONS] = _WAL
        write_whole(path, bytes(image))


@contextmanager
def _named_errors(path: Path, refused: Callable[[Path, str], IostudyError]) -> Iterator[None]:
    """``refused`` names what the system does not allow (room, permissions, locks)."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise refused(path, f"SQLite says: {error}") from error
    except sqlite3.DatabaseError as error:
        raise _damaged(path, str(error)) from error
    except OSError as error:
        raise refused(path, error.strerror or str(error)) from error


def _not_recorded(path: Path, found: str) -> RecordError:
    return RecordError(
        "to record what was done",
        found=found,
        where=str(path),
        remedy="make room on that file system; what was recorded before is kept, "
        "and --resume goes on from there",
    )


def _not_readable(path: Path, found: str) -> LedgerError:
    return LedgerError(
        "to open the ledger",
        found=found,
        where=str(path),
        remedy="see to its permissions, and to other programs that hold the file",
    )


def _of_another_version(path: Path, version: int) -> LedgerError:
    """The forms differ in what is kept of a trial, so that none stands for another."""
    if version < SCHEMA_VERSION:
        found, tool = "of an older iostudy", "the iostudy that wrote it"
    else:
        found, tool = "of a newer iostudy", "that one"
    return LedgerError(
        f"a ledger of version {SCHEMA_VERSION}",
        found=f"it is of version {version}, {found}",
        where=str(path),
        remedy=f"report.html beside it still tells that study; read or resume it with {tool}, "
        "or run it anew in another folder with --out",
    )


def _damaged(path: Path, found: str) -> LedgerError:
    return LedgerError(
        "a whole ledger",
        found=f"SQLite says: {found}",
        where=str(path),
        remedy="nothing was written to it; `sqlite3 FILE .recover` saves what can be read. "
        "Begin anew in another folder with --out",
    )


def _encoded(study: StudyRow) -> tuple[Any, ...]:
    return (
        study.name,
        study.text,
        study.root,
        json.dumps(study.offered),
        json.dumps(study.left_out),
        str(study.seed),
        study.started_at,
        study.iostudy_version,
        json.dumps(study.circumstances),
    )


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)


def _trial_row(row: sqlite3.Row) -> TrialRow:
    # pydantic's decoder takes half the time of Python's, and keeps a name of 10,000 trials once.
    def decoded(name: str) -> Any:
        return None if row[name] is None else from_json(row[name])

    return TrialRow(
        id=row["id"],
        block=row["block"],
        attempt=row["attempt"],
        position=row["position"],
        workload=row["workload"],
        configuration=row["configuration"],
        status=TrialStatus(row["status"]),
        reason=row["reason"],
        started_at=row["started_at"],
        figures=decoded("figures"),
        settings=decoded("settings"),
        devices=tuple(from_json(row["devices"])),
        seen=_seen(decoded("seen")),
        phases=decoded("phases"),
        notes=tuple(from_json(row["notes"])),
        telemetry=row["telemetry"],
        counts=bool(row["counts"]),
        latencies=_latencies(decoded("latencies")),
        parts=tuple(Part(*part) for part in from_json(row["parts"])),
    )


def _seen(decoded: Mapping[str, Any] | None) -> Seen | None:
    if decoded is None:
        return None
    foreign = tuple(Foreign(**process) for process in decoded["foreign"])
    requests = decoded["requests"]
    told = None if requests is None else BlockRequests.from_values(requests)
    return Seen(**{**decoded, "foreign": foreign, "requests": told})


def _latencies(decoded: Mapping[str, Any] | None) -> Mapping[str, Histogram] | None:
    """Histograms as they were before JSON made lists of their pairs."""
    if decoded is None:
        return None
    return {name: tuple(map(tuple, pairs)) for name, pairs in decoded.items()}
