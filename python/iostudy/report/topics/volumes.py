"""Expected and observed rates of volumes by the trials' telemetry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from pydantic import FiniteFloat

from iostudy.ledger.rows import TrialRow
from iostudy.report.base import OfConfiguration, Value
from iostudy.report.formatting import format_count, format_figure, join_words
from iostudy.report.section import Section, make_table
from iostudy.report.topics.telemetry import group_counted_trials
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.study.model import Study
from iostudy.telemetry.stack import Direction, build_flow
from iostudy.units import KIB, MIB, format_percent


class MemberReport(Value):
    """A disk of the volume, measured alone before the volume was made."""

    device: str
    """Kernel name of the disk."""
    read_rate: FiniteFloat
    """Sequential reads, in MiB/s."""
    reads_per_second: FiniteFloat
    """Random reads of 4 KiB per second, with 16 in flight."""
    write_rate: FiniteFloat
    """Sequential writes with a flush at their end, in MiB/s."""
    writes_per_second: FiniteFloat
    """Random writes of 4 KiB per second, with 16 in flight and a flush at their end."""
    is_slow: bool
    """Whether a rate is below 80 % of the median of all disks, and no disk was made like it."""


class DeviceRequests(Value):
    """Requests of one direction through one device."""

    device: str
    """All names of the device, such as ``253:2 = dm-2 = vg0/home``."""
    requests_in: FiniteFloat
    """Requests per second that reached it."""
    requests_out: FiniteFloat
    """Requests per second that it completed, after merging."""


class VolumeRateReport(OfConfiguration):
    """One direction of the trials of a configuration on a workload."""

    direction: str
    """``read`` or ``write``."""
    disks: int
    """Number of disks that can work on different data of this direction at a time."""
    expected: FiniteFloat
    """Sequential rate of that many of the slowest disk, in MiB/s."""
    expected_requests: FiniteFloat
    """Random requests per second of that many of the slowest disk."""
    observed: FiniteFloat
    """Mean rate of the volume over the counted trials, in MiB/s."""
    requests: FiniteFloat
    """Requests per second that the volume completed."""
    member_requests: FiniteFloat
    """Requests per second that reached its disks."""
    completed: FiniteFloat
    """Requests per second that the disks completed, after merging."""
    devices: tuple[DeviceRequests, ...]
    """The volume, the layers below it and its disks, from the top."""


class VolumeReport(Value):
    """A volume and its disks."""

    members: tuple[MemberReport, ...]
    """The disks of the target, in its order."""
    rates: tuple[VolumeRateReport, ...]
    """Rates by workload, configuration and direction."""


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
    layout, models = study.target.layout, study.target.models
    if layout is None or not measured:
        return None
    usual = {figure: median(member[figure] for member in measured) for figure in _SPEEDS}
    members = tuple(
        MemberReport(
            device=member["device"],
            read_rate=member["read_bytes_per_second"] / MIB,
            reads_per_second=member["reads_per_second"],
            write_rate=member["write_bytes_per_second"] / MIB,
            writes_per_second=member["writes_per_second"],
            # What differs between disks of one made model is the noise of a single measurement.
            is_slow=models.count(model) == 1
            and any(member[figure] < _SLOW * usual[figure] for figure in _SPEEDS),
        )
        for member, model in zip(measured, models, strict=True)
    )
    return VolumeReport(members=members, rates=tuple(_rates(study, layout, members, rows)))


def _rates(
    study: Study, layout: VolumeLayout, members: Sequence[MemberReport], rows: Sequence[TrialRow]
) -> Iterator[VolumeRateReport]:
    """Yield the rate of each direction in which the volume moved more than a few bytes."""
    for pair, counted in group_counted_trials(study, rows).items():
        measured = [row for row in counted if row.summary is not None]
        configuration = next(c for c in study.configurations() if c.label == pair[1])
        own_layout = layout.with_settings(configuration.settings)
        used = members[: own_layout.members_used(len(members))]
        moved = {name: _mean(measured, f"{prefix}kB/s") for name, prefix in _PREFIXES.items()}
        for direction, rate in moved.items():
            if rate > _MIN_SHARE * sum(moved.values()):
                yield _rate(measured, own_layout, used, direction)


def _rate(
    rows: Sequence[TrialRow], layout: VolumeLayout, used: Sequence[MemberReport], direction: str
) -> VolumeRateReport:
    prefix, writes = _PREFIXES[direction], direction == "write"
    disks = layout.parallel_disks(len(used), writes=writes)
    rates = [disk.write_rate if writes else disk.read_rate for disk in used]
    random_rates = [disk.writes_per_second if writes else disk.reads_per_second for disk in used]
    completed = sum(_mean(rows, f"{prefix}/s", member.device) for member in used)
    merged = sum(_mean(rows, f"{prefix}rqm/s", member.device) for member in used)
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
    same = [summary for summary in summaries if summary.below == summaries[-1].below]
    means = {
        name: {
            figure: fmean(summary.devices.get(name, {}).get(figure, 0.0) for summary in same)
            for figure in direction.figures
        }
        for name in same[-1].devices
    }
    flow = build_flow(direction, rows[-1].device, same[-1].below, means)
    for name in (name for layer in (flow.layers if flow else ()) for name in layer.devices):
        completed, merged = (means[name][figure] for figure in direction.figures)
        yield DeviceRequests(
            device=same[-1].titles.get(name, name),
            requests_in=completed + merged,
            requests_out=completed,
        )


def _mean(rows: Sequence[TrialRow], figure: str, device: str = "") -> float:
    """Return the mean of a figure of a device, by default of the volume."""
    values = (
        row.summary.devices.get(device or row.device, {}).get(figure, 0.0) if row.summary else 0.0
        for row in rows
    )
    return fmean(values) if rows else 0


_EXPLANATION = (
    "Each disk was read and written alone before the volume was made; writes include a flush. "
    "Expected is the sequential rate of the slowest disk, times the disks that can work on "
    "different data at a time: all of them for reads, without copies and parity for writes. "
    "Observed is the mean rate of the volume over whole trials, so small or random requests and "
    "one reader explain lower shares."
)


def build_volume_section(volume: VolumeReport | None, noun: str) -> Section | None:
    """None for a study without a volume."""
    if volume is None:
        return None
    rates = (
        {
            "workload": rate.workload,
            noun: rate.configuration,
            "direction": rate.direction,
            "disks": rate.disks,
            "expected, MiB/s": format_figure(rate.expected),
            "observed, MiB/s": format_figure(rate.observed),
            "requests/s": format_figure(rate.requests),
            "at the disks": format_figure(rate.member_requests),
            "completed": format_figure(rate.completed),
            "expected at random": format_figure(rate.expected_requests),
        }
        for rate in volume.rates
    )
    rows = (
        {
            "disk": member.device,
            "sequential reads, MiB/s": format_figure(member.read_rate),
            "random reads/s": format_figure(member.reads_per_second),
            "sequential writes, MiB/s": format_figure(member.write_rate),
            "random writes/s": format_figure(member.writes_per_second),
        }
        for member in volume.members
    )
    members = make_table(rows, "Disks alone")
    notes = [_EXPLANATION]
    if slow := [member.device for member in volume.members if member.is_slow]:
        notes.append(
            f"{join_words(slow)} {'is' if len(slow) == 1 else 'are'} slower than 80 % of the "
            "median disk, and every stripe waits for its slowest disk. Each was measured once: "
            "measure a slow one again before you replace it."
        )
    return Section(
        "volume",
        "Volume and disks",
        (*notes, *map(describe_rate, volume.rates)),
        tables=(make_table(rates, names=3),),
        folded=(members,),
    )


def describe_rate(rate: VolumeRateReport) -> str:
    """Say what copies, merging and the number of disks made of the requests of the volume."""
    share = format_percent(rate.observed / rate.expected)
    copies = rate.member_requests / rate.requests if rate.requests else 0.0
    merged = rate.member_requests / rate.completed if rate.completed else 0.0
    return (
        f"{rate.workload}, {rate.configuration}: {rate.direction}s moved {share} of what "
        f"{format_count(rate.disks, 'disk')} could in order, at "
        f"{format_figure(rate.requests)} requests/s; at random the disks could do "
        f"{format_figure(rate.expected_requests)}/s. Each request became {format_figure(copies)} "
        f"of the disks. Merging joined {format_figure(merged)} to one, so that they completed "
        f"{format_figure(rate.completed)}/s."
    )
