"""Means of telemetry by configuration, over the counted trials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from iostudy.ledger.rows import RunRow, TrialRow
from iostudy.report.trials import TelemetryReport
from iostudy.study.model import Study

Figures = Mapping[str, float]
T = TypeVar("T")

MACHINE = "all CPUs, and pressure"

_UNITS = {
    "_await": "ms",
    "areq-sz": "KiB",
    "aqu-sz": "requests",
    "_some": "% of time",
    "_full": "% of time",
}
"""Units of figures by the end of their names."""
_KIB = "kB"
"""iostat's kB are 1024 bytes; they are shown as MiB."""


def build_telemetry(study: Study, rows: Sequence[TrialRow]) -> tuple[TelemetryReport, ...]:
    """One for each workload and configuration with a trial that counts, in the study's order."""
    tested = find_tested_device(rows)
    return tuple(
        _average(*pair, own, tested)
        for pair, own in group_counted_trials(study, rows).items()
        if own
    )


def group_counted_trials(
    study: Study, rows: Iterable[TrialRow]
) -> dict[tuple[str, str], list[TrialRow]]:
    """The trials that count by workload and configuration, in the study's order."""
    pairs = [(w.label, c.label) for w in study.workloads for c in study.configurations()]
    found: dict[tuple[str, str], list[TrialRow]] = {pair: [] for pair in pairs}
    for row in rows:
        if row.counts and (own := found.get((row.workload, row.configuration))) is not None:
            own.append(row)
    return found


def find_tested_device(rows: Sequence[TrialRow | RunRow]) -> str:
    """Return the device that the trials name, or "".

    Several where a loop-back disk has another name after --resume, or where configurations lie on
    different disks: ``loop1 or loop0``, each trial on its own.
    """
    return " or ".join(dict.fromkeys(device for row in rows for device in row.devices[:1]))


def _average(
    workload: str, configuration: str, rows: Sequence[TrialRow], tested: str
) -> TelemetryReport:
    by_name = [
        rename_tested_device(row.summary.devices if row.summary else {}, row.device, tested)
        for row in rows
    ]
    devices = dict.fromkeys(name for own in by_name for name in own)
    return TelemetryReport(
        workload=workload,
        configuration=configuration,
        trials=len(rows),
        devices={name: _mean(own.get(name, {}) for own in by_name) for name in devices},
        machine=_mean(row.summary.machine for row in rows if row.summary),
    )


def rename_tested_device(devices: Mapping[str, T], device: str, tested: str) -> dict[str, T]:
    """Rename the tested device ``device`` to ``tested`` in values by device."""
    return {tested if name == device else name: own for name, own in devices.items()}


def _mean(figures: Iterable[Figures]) -> dict[str, float | None]:
    """Arithmetic means by name, each over the trials that have the figure."""
    rows = list(figures)
    names = dict.fromkeys(name for own in rows for name in own)
    return {name: _mean_of(own[name] for own in rows if name in own) for name in names}


def _mean_of(values: Iterable[float]) -> float | None:
    known = list(filter(math.isfinite, values))
    return math.fsum(known) / len(known) if known else None


@dataclass(frozen=True)
class MeterGroup:
    """Figures of one device, or of the machine: a row a figure, a value a configuration."""

    title: str
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]


def group_meters(telemetry: Sequence[TelemetryReport]) -> tuple[MeterGroup, ...]:
    """Transpose the telemetry of one workload: a column for each configuration."""
    devices = dict.fromkeys(name for own in telemetry for name in own.devices)
    groups = [(name, [own.devices.get(name, {}) for own in telemetry]) for name in devices]
    groups.append((MACHINE, [dict(own.machine) for own in telemetry]))
    return tuple(MeterGroup(title, _rows(columns)) for title, columns in groups if any(columns))


def _rows(
    columns: Sequence[Mapping[str, float | None]],
) -> tuple[tuple[str, tuple[float | None, ...]], ...]:
    names = dict.fromkeys(name for column in columns for name in column)
    return tuple(
        (
            format_meter_name(name),
            tuple(convert_meter_value(name, column.get(name)) for column in columns),
        )
        for name in names
    )


def format_meter_name(name: str) -> str:
    """iostat's name, with the unit that it lacks: ``rMiB/s`` for rkB/s, ``aqu-sz, requests``."""
    units = (unit for ending, unit in _UNITS.items() if name.endswith(ending))
    return ", ".join((name.replace(_KIB, "MiB"), *units))


def convert_meter_value(name: str, value: float | None) -> float | None:
    """The value of iostat's name in the unit of ``format_meter_name``."""
    return value / 1024 if value is not None and _KIB in name else value
