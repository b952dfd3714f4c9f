"""Tables of the ledger and a check of a file's schema."""

from __future__ import annotations

import sqlite3
from contextlib import closing

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
TABLES = (
    "study",
    "resumption",
    "trial",
    "complete_block",
    "given_up",
    "time_limit",
    "candidate",
    "outcome",
    "pilot",
    "run",
    "window",
)
"""The tables whose rows the head covers."""


def is_intact(connection: sqlite3.Connection) -> bool:
    """Return whether the file declares exactly the tables of `SCHEMA`."""
    with closing(sqlite3.connect(":memory:")) as model:
        model.executescript(SCHEMA)
        return _objects(connection) == _objects(model)


def _objects(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")
    return [tuple(row) for row in rows]
