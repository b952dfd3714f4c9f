"""Expected and observed rates of volumes by the trials' telemetry (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from iostudy.ledger.rows import TrialRow
from iostudy.report.topics.volumes.values import MemberReport, VolumeRateReport, VolumeReport
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.study.model import Study
from iostudy.study.volume_target import VolumeTarget
from iostudy.telemetry.summary import Figures
from iostudy.units import KIB, MIB

_SLOW = 0.8
"""Share of the median speed below which a disk is slow."""
_MIN_SHARE = 0.05
"""Share of all bytes from which a direction is reported."""
_PREFIXES = {"read": "r", "write": "w"}
"""iostat's prefix of each direction."""


def build_volume(
    study: Study, circumstances: Mapping[str, Any], rows: Sequence[TrialRow]
) -> VolumeReport | None:
    """Build the report of the study's volume; None without one, or without a measured disk."""
    measured = circumstances.get("target", {}).get("members", [])
    if not isinstance(study.target, VolumeTarget) or not measured:
        return None
    members = _members(measured)
    return VolumeReport(members=members, rates=tuple(_rates(study, study.target, members, rows)))


def _members(measured: Sequence[Mapping[str, Any]]) -> tuple[MemberReport, ...]:
    rates = [own["read_bytes_per_second"] / MIB for own in measured]
    reads = [own["reads_per_second"] for own in measured]
    usual_rate, usual_reads = median(rates), median(reads)
    return tuple(
        MemberReport(
            device=own["device"],
            read_rate=rate,
            reads_per_second=count,
            is_slow=rate < _SLOW * usual_rate or count < _SLOW * usual_reads,
        )
        for own, rate, count in zip(measured, rates, reads, strict=True)
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
    prefix = _PREFIXES[direction]
    disks = layout.parallel_disks(len(used), writes=direction == "write")
    names = [member.device for member in used]
    completed = sum(_mean(rows, f"{prefix}/s", name) for name in names)
    merged = sum(_mean(rows, f"{prefix}rqm/s", name) for name in names)
    return VolumeRateReport(
        workload=rows[0].workload,
        configuration=rows[0].configuration,
        direction=direction,
        disks=disks,
        expected=disks * min(member.read_rate for member in used),
        observed=_mean(rows, f"{prefix}kB/s") * KIB / MIB,
        requests=_mean(rows, f"{prefix}/s"),
        member_requests=completed + merged,
        completed=completed,
    )


def _mean(rows: Sequence[TrialRow], figure: str, device: str = "") -> float:
    """Return the mean of a figure of a device, by default of the volume."""
    return (
        fmean(_figures(row, device or row.device).get(figure, 0.0) for row in rows) if rows else 0
    )


def _figures(row: TrialRow, device: str) -> Figures:
    return row.summary.devices.get(device, {}) if row.summary else {}
