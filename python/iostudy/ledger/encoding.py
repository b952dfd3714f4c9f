"""Conversion of ledger rows to columns and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from pydantic_core import from_json

from iostudy.ledger.errors import damaged_ledger
from iostudy.ledger.rows import SamplesFile, StudyRow, TrialRow, TrialStatus
from iostudy.ledger.tables import Tables
from iostudy.telemetry.summary import BlockRequests, ForeignProcess, Submitter, TelemetrySummary
from iostudy.units import require_time
from iostudy.workloads.measurement import Part

Decoded = TypeVar("Decoded")


def decode_row(
    path: Path, table: str, row: sqlite3.Row, decode: Callable[[sqlite3.Row], Decoded]
) -> Decoded:
    """Decode a row; LedgerError names table and row if its columns are invalid."""
    try:
        return decode(row)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        detail = f"{table} {row[0]}: {type(error).__name__}: {error}"
        raise damaged_ledger(path, f"a row that cannot be decoded: {detail}") from error


def decode_rows(
    tables: Tables, table: str, decode: Callable[[sqlite3.Row], Decoded]
) -> tuple[Decoded, ...]:
    """Decode all rows of a table, in key order."""
    return tuple(decode_row(tables.path, table, row, decode) for row in tables.read(table))


def encode_study(study: StudyRow) -> dict[str, Any]:
    """Return the columns of a study."""
    return {
        "name": study.name,
        "text": study.text,
        "root": study.root,
        "offered": json.dumps(study.offered),
        "left_out": json.dumps(study.left_out),
        "seed": str(study.seed),
        "started_at": study.started_at,
        "iostudy_version": study.iostudy_version,
        "circumstances": json.dumps(study.circumstances),
    }


def decode_study(row: sqlite3.Row) -> StudyRow:
    """Return the study of its columns."""
    offered = {name: tuple(levels) for name, levels in json.loads(row["offered"]).items()}
    return StudyRow(
        name=row["name"],
        text=row["text"],
        root=bool(row["root"]),
        offered=offered,
        left_out=json.loads(row["left_out"]),
        seed=int(row["seed"]),
        started_at=require_time(row["started_at"]),
        iostudy_version=row["iostudy_version"],
        # JSON has no number that is infinite or not a number.
        circumstances=json.loads(row["circumstances"], parse_constant=lambda _: None),
    )


def encode_trial_start(row: TrialRow) -> dict[str, Any]:
    """Return the columns of a trial that starts."""
    names = ("block", "attempt", "position", "workload", "configuration", "started_at")
    return {name: getattr(row, name) for name in names} | {"status": TrialStatus.STARTED}


def encode_trial_end(row: TrialRow) -> dict[str, Any]:
    """Return the columns that are set at the end of a trial."""
    return {
        "status": row.status,
        "reason": row.reason,
        "figures": _json(row.figures),
        "settings": _json(row.settings),
        "seen": _json(None if row.summary is None else asdict(row.summary)),
        "phases": _json(row.phases),
        "notes": json.dumps(row.notes),
        "telemetry": row.telemetry.name,
        "telemetry_sha256": row.telemetry.sha256,
        "devices": json.dumps(row.devices),
        "latencies": _json(row.latencies),
        "parts": json.dumps([[dict(part.labels), dict(part.figures)] for part in row.parts]),
    }


def decode_trial(row: sqlite3.Row, *, counts: bool) -> TrialRow:
    """Return the trial of its columns."""

    # pydantic's decoder takes half the time of Python's, and shares equal strings of all trials.
    def value(name: str) -> Any:
        return None if row[name] is None else from_json(row[name])

    summary, latencies = value("seen"), value("latencies")
    return TrialRow(
        id=row["id"],
        block=row["block"],
        attempt=row["attempt"],
        position=row["position"],
        workload=row["workload"],
        configuration=row["configuration"],
        status=TrialStatus(row["status"]),
        reason=row["reason"],
        started_at=require_time(row["started_at"]),
        figures=value("figures"),
        settings=value("settings"),
        devices=tuple(from_json(row["devices"])),
        summary=None if summary is None else decode_summary(summary),
        phases=value("phases"),
        notes=tuple(from_json(row["notes"])),
        telemetry=SamplesFile(row["telemetry"], row["telemetry_sha256"]),
        counts=counts,
        # JSON has lists in place of tuples.
        latencies=None
        if latencies is None
        else {name: tuple(map(tuple, pairs)) for name, pairs in latencies.items()},
        parts=tuple(Part(*part) for part in from_json(row["parts"])),
    )


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)


def decode_summary(values: Mapping[str, Any]) -> TelemetrySummary:
    """Return the telemetry summary of decoded JSON."""
    requests = values["requests"]
    known = {
        "foreign": tuple(ForeignProcess(**process) for process in values["foreign"]),
        "requests": None if requests is None else BlockRequests.from_values(requests),
        "submitters": tuple(Submitter(**submitter) for submitter in values.get("submitters", ())),
        "private_devices": tuple(values.get("private_devices", ())),
    }
    return TelemetrySummary(**{**values, **known})
