"""Record of the plans, runs and windows of a switchback study."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from pydantic_core import from_json

from iostudy.analysis.switchback.window_plan import EarlierPlan, WindowPlan
from iostudy.ledger.encoding import decode_rows, decode_summary
from iostudy.ledger.rows import PlanRow, RunRow, SamplesFile, SwitchbackRows, WindowRow
from iostudy.ledger.store import Ledger

_WINDOW = tuple(field.name for field in fields(WindowRow))
"""The columns of a window: its fields, of which figures are JSON."""


class WindowRecord:
    """The plans, runs and windows of a study; every change is durable on return.

    Raises LedgerError and RecordError as the ledger does.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._tables = ledger.tables

    def add_plan(self, plan: PlanRow) -> None:
        """Record the plan of a workload before its first block, or the reason against windows."""
        values = asdict(plan)
        with self._tables.transaction() as change:
            change.insert("pilot", workload=values.pop("workload"), plan=json.dumps(values))

    def add_block(self, windows: Sequence[WindowRow]) -> None:
        """Record the windows of a complete block in one transaction."""
        with self._tables.transaction() as change:
            for window in windows:
                change.insert("window", **_encode_window(window))

    def add_run(self, run: RunRow) -> None:
        """Record a run at its end."""
        with self._tables.transaction() as change:
            change.insert("run", **_encode_run(run))

    def rows(self) -> SwitchbackRows:
        """Return all rows."""
        return SwitchbackRows(self.plans(), self.runs(), self.windows())

    def plans(self) -> tuple[PlanRow, ...]:
        """Return the plan of every workload that has one."""
        return decode_rows(self._tables, "pilot", _decode_plan)

    def can_decide(self) -> bool:
        """Return whether windows can still decide: no workload has a reason against them."""
        return all(plan.plan is not None for plan in self.plans())

    def windows(self) -> tuple[WindowRow, ...]:
        """Return every window in the order of measurement."""
        return decode_rows(self._tables, "window", _decode_window)

    def runs(self) -> tuple[RunRow, ...]:
        """Return every run that was not killed."""
        return decode_rows(self._tables, "run", _decode_run)


def _encode_window(window: WindowRow) -> dict[str, Any]:
    values = {name: getattr(window, name) for name in _WINDOW}
    return values | {"figures": json.dumps(dict(window.figures))}


def _decode_window(row: sqlite3.Row) -> WindowRow:
    values = {name: row[name] for name in _WINDOW}
    return WindowRow(**values | {"figures": from_json(row["figures"])})


def _encode_run(run: RunRow) -> dict[str, Any]:
    return {
        "workload": run.workload,
        "started_at": run.started_at,
        "settings": json.dumps({label: dict(settings) for label, settings in run.settings.items()}),
        "devices": json.dumps(run.devices),
        "summary": json.dumps(asdict(run.summary)),
        "notes": json.dumps(run.notes),
        "telemetry": run.telemetry.name,
        "telemetry_sha256": run.telemetry.sha256,
    }


def _decode_run(row: sqlite3.Row) -> RunRow:
    return RunRow(
        workload=row["workload"],
        started_at=row["started_at"],
        settings=from_json(row["settings"]),
        devices=tuple(from_json(row["devices"])),
        summary=decode_summary(from_json(row["summary"])),
        notes=tuple(from_json(row["notes"])),
        telemetry=SamplesFile(row["telemetry"], row["telemetry_sha256"]),
    )


def _decode_plan(row: sqlite3.Row) -> PlanRow:
    values = from_json(row["plan"])
    plan = values["plan"]
    if plan is None:
        return PlanRow(row["workload"], None, values["reason"])
    if "needed_rounds" in plan:
        names = (field.name for field in fields(EarlierPlan))
        return PlanRow(row["workload"], EarlierPlan(**{name: plan[name] for name in names}))
    return PlanRow(row["workload"], WindowPlan(**plan))
