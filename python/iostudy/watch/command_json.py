"""What a command did as the values of a JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from iostudy.report.diagnosis import diagnosis_told
from iostudy.report.finite import finite_values
from iostudy.report.values.watched import Figures, ProcessTold, WatchedTold
from iostudy.telemetry.summary import Figures as Seen
from iostudy.watch.command import Told


def document(told: Told) -> WatchedTold:
    """All that is known of it, by the names that ``iostudy bench --json`` has."""
    reading, seen = told.reading, told.reading.seen
    return WatchedTold(
        command=told.command,
        exit_code=told.exit_code,
        ended=reading.at.isoformat(timespec="milliseconds"),
        seconds=seen.seconds,
        device=next(iter(told.devices), ""),
        devices=_each(seen.devices),
        called={name: own.called for name, own in reading.devices.items()},
        machine=finite_values(seen.machine),
        network=_each(seen.network),
        nfs=_each(seen.nfs),
        workload=finite_values(seen.workload),
        processes=tuple(ProcessTold(**asdict(each)) for each in told.processes),
        limited_by=diagnosis_told(told.limited),
    )


def _each(figures: Mapping[str, Seen]) -> dict[str, Figures]:
    return {name: finite_values(own) for name, own in figures.items()}
