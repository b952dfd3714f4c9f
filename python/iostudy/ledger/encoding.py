"""Rows of the ledger as columns, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from pydantic_core import from_json

from iostudy.ledger.errors import damaged
from iostudy.ledger.rows import SamplesFile, StudyRow, TrialRow, TrialStatus
from iostudy.telemetry.block_requests import BlockRequests
from iostudy.telemetry.summary import ForeignProcess, TelemetrySummary
from iostudy.workloads.definition import Histogram, Part

Decoded = TypeVar("Decoded")


def decoded(
    path: Path, table: str, row: sqlite3.Row, decode: Callable[[sqlite3.Row], Decoded]
) -> Decoded:
    """The value of a row; LedgerError names table and row where its columns make none."""
    try:
        return decode(row)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        said = f"{table} {row[0]}: {type(error).__name__}: {error}"
        raise damaged(path, f"a row that cannot be decoded: {said}") from error


def study_columns(study: StudyRow) -> dict[str, Any]:
    """The columns of a study."""
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


def study_row(row: sqlite3.Row) -> StudyRow:
    """The study of its columns."""
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


def begun_columns(row: TrialRow) -> dict[str, Any]:
    """The columns of a trial that begins."""
    return {
        "block": row.block,
        "attempt": row.attempt,
        "position": row.position,
        "workload": row.workload,
        "configuration": row.configuration,
        "status": TrialStatus.STARTED,
        "started_at": row.started_at,
    }


def ended_columns(row: TrialRow) -> dict[str, Any]:
    """The columns that a trial gets at its end."""
    return {
        "status": row.status,
        "reason": row.reason,
        "figures": _json(row.figures),
        "settings": _json(row.settings),
        "seen": _json(None if row.seen is None else asdict(row.seen)),
        "phases": _json(row.phases),
        "notes": json.dumps(row.notes),
        "telemetry": row.telemetry.name,
        "telemetry_sha256": row.telemetry.sha256,
        "devices": json.dumps(row.devices),
        "latencies": _json(row.latencies),
        "parts": json.dumps([[dict(part.labels), dict(part.figures)] for part in row.parts]),
    }


def trial_row(row: sqlite3.Row, *, counts: bool) -> TrialRow:
    """The trial of its columns."""

    # pydantic's decoder takes half the time of Python's, and keeps a name of 10,000 trials once.
    def value(name: str) -> Any:
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
        figures=value("figures"),
        settings=value("settings"),
        devices=tuple(from_json(row["devices"])),
        seen=_seen(value("seen")),
        phases=value("phases"),
        notes=tuple(from_json(row["notes"])),
        telemetry=SamplesFile(row["telemetry"], row["telemetry_sha256"]),
        counts=counts,
        latencies=_latencies(value("latencies")),
        parts=tuple(Part(*part) for part in from_json(row["parts"])),
    )


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)


def _seen(values: Mapping[str, Any] | None) -> TelemetrySummary | None:
    if values is None:
        return None
    foreign = tuple(ForeignProcess(**process) for process in values["foreign"])
    requests = values["requests"]
    told = None if requests is None else BlockRequests.from_values(requests)
    return TelemetrySummary(**{**values, "foreign": foreign, "requests": told})


def _latencies(values: Mapping[str, Any] | None) -> Mapping[str, Histogram] | None:
    """Histograms as they were before JSON made lists of their pairs."""
    if values is None:
        return None
    return {name: tuple(map(tuple, pairs)) for name, pairs in values.items()}
