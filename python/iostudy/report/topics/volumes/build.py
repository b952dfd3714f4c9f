"""Expected and observed rates of volumes by the trials' telemetry (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from iostudy.ledger.rows import TrialRow
from iostudy.report.topics.volumes.values import (
    DeviceRequests,
    MemberReport,
    VolumeRateReport,
    VolumeReport,
)
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.study.model import Study
from iostudy.study.targets.volume import VolumeTarget
from iostudy.telemetry.stack import Direction, build_flow
from iostudy.telemetry.summary import Figures, TelemetrySummary
from iostudy.units import KIB, MIB

_SLOW = 0.8
"""Share of the median speed below which a disk is slow."""
_MIN_SHARE = 0.05
"""Share of all bytes from which a direction is reported."""
_SPEEDS = (
    "read_bytes_per_second",
    "reads_per_second",
    "write_bytes_per_second",
    "writes_per_second",
)
"""The rates of a disk alone, by their names in the circumstances."""
_PREFIXES = {"read": "r", "write": "w"}
"""iostat's prefix of each direction."""


def build_volume(
    study: Study, circumstances: Mapping[str, Any], rows: Sequence[TrialRow]
) -> VolumeReport | None:
    """Build the report of the study's volume; None without one, or without a measured disk."""
    measured = circumstances.get("target", {}).get("members", [])
    if not isinstance(study.target, VolumeTarget) or not measured:
        return None
    members = _members(measured, study.target.models)
    return VolumeReport(members=members, rates=tuple(_rates(study, study.target, members, rows)))


def _members(
    measured: Sequence[Mapping[str, Any]], models: Sequence[str]
) -> tuple[MemberReport, ...]:
    usual = {figure: median(own[figure] for own in measured) for figure in _SPEEDS}
    return tuple(
        MemberReport(
            device=own["device"],
            read_rate=own["read_bytes_per_second"] / MIB,
            reads_per_second=own["reads_per_second"],
            write_rate=own["write_bytes_per_second"] / MIB,
            writes_per_second=own["writes_per_second"],
            # What differs between disks of one made model is the noise of a single measurement.
            is_slow=models.count(model) == 1
            and any(own[figure] < _SLOW * usual[figure] for figure in _SPEEDS),
        )
        for own, model in zip(measured, models, strict=True)
    )


def _rates(
    study: Study,
    target: VolumeTarget,
    members: Sequence[MemberReport],
    rows: Sequence[TrialRow],
) -> Iterator[VolumeRateReport]:
    for request in study.workloads:
        for configuration in study.configurations():
            own = [
                row
                for row in rows
                if row.counts
                and (row.workload, row.configuration) == (request.label, configuration.label)
                and row.summary is not None
            ]
            layout = target.layout.with_settings(configuration.settings)
            used = members[: layout.members_used(len(members))]
            for direction in _directions(own):
                yield _rate(own, layout, used, direction)


def _directions(rows: Sequence[TrialRow]) -> list[str]:
    """Return the directions in which the volume moved more than a few bytes."""
    moved = {name: _mean(rows, f"{prefix}kB/s") for name, prefix in _PREFIXES.items()}
    return [name for name, own in moved.items() if own > _MIN_SHARE * sum(moved.values())]


def _rate(
    rows: Sequence[TrialRow],
    layout: VolumeLayout,
    used: Sequence[MemberReport],
    direction: str,
) -> VolumeRateReport:
    prefix, writes = _PREFIXES[direction], direction == "write"
    disks = layout.parallel_disks(len(used), writes=writes)
    rates = [own.write_rate if writes else own.read_rate for own in used]
    random_rates = [own.writes_per_second if writes else own.reads_per_second for own in used]
    names = [member.device for member in used]
    completed = sum(_mean(rows, f"{prefix}/s", name) for name in names)
    merged = sum(_mean(rows, f"{prefix}rqm/s", name) for name in names)
    return VolumeRateReport(
        workload=rows[0].workload,
        configuration=rows[0].configuration,
        direction=direction,
        disks=disks,
        expected=disks * min(rates),
        expected_requests=disks * min(random_rates),
        observed=_mean(rows, f"{prefix}kB/s") * KIB / MIB,
        requests=_mean(rows, f"{prefix}/s"),
        member_requests=completed + merged,
        completed=completed,
        devices=tuple(_devices(rows, Direction.WRITE if writes else Direction.READ)),
    )


def _devices(rows: Sequence[TrialRow], direction: Direction) -> Iterator[DeviceRequests]:
    """Yield each device from the volume down, by the trials whose devices have the same names."""
    summaries = [row.summary for row in rows if row.summary is not None]
    same = [own for own in summaries if own.below == summaries[-1].below]
    means = _mean_figures(same, direction.figures)
    flow = build_flow(direction, rows[-1].device, same[-1].below, means)
    for name in (name for layer in (flow.layers if flow else ()) for name in layer.devices):
        completed, merged = (means[name][figure] for figure in direction.figures)
        yield DeviceRequests(
            device=same[-1].titles.get(name, name),
            requests_in=completed + merged,
            requests_out=completed,
        )


def _mean_figures(
    summaries: Sequence[TelemetrySummary], figures: Sequence[str]
) -> Mapping[str, Figures]:
    """Return the means of these figures by device."""
    return {
        name: {
            figure: fmean(own.devices.get(name, {}).get(figure, 0.0) for own in summaries)
            for figure in figures
        }
        for name in summaries[-1].devices
    }


def _mean(rows: Sequence[TrialRow], figure: str, device: str = "") -> float:
    """Return the mean of a figure of a device, by default of the volume."""
    return (
        fmean(_figures(row, device or row.device).get(figure, 0.0) for row in rows) if rows else 0
    )


def _figures(row: TrialRow, device: str) -> Figures:
    return row.summary.devices.get(device, {}) if row.summary else {}
