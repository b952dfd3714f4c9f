"""Report section on a volume: its disks alone, expected and observed rates, and merging."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report.formatting import format_count, format_figure, join_words
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.volumes.values import MemberReport, VolumeRateReport, VolumeReport
from iostudy.report.values import Report
from iostudy.units import format_percent

_EXPLANATION = (
    "Each disk was read and written alone before the volume was made; writes include a flush. "
    "Expected is the sequential rate of the slowest disk, times the disks that can work on "
    "different data at a time: all of them for reads, without copies and parity for writes. "
    "Observed is the mean rate of the volume over whole trials, so small or random requests and "
    "one reader explain lower shares."
)


def build_volume_section(report: Report) -> Section | None:
    """None for a study without a volume."""
    found = report.volume
    if found is None:
        return None
    return Section(
        name="volume",
        title="Volume and disks",
        notes=(_EXPLANATION, *_slow_members(found), *(_sentence(rate) for rate in found.rates)),
        tables=(_rate_table(report.noun, found),),
        folded=(_member_table(found.members), _device_table(report.noun, found)),
    )


def _slow_members(found: VolumeReport) -> Iterator[str]:
    slow = [member.device for member in found.members if member.is_slow]
    if slow:
        verb = "is" if len(slow) == 1 else "are"
        yield (
            f"{join_words(slow)} {verb} slower than 80 % of the median disk, and every stripe "
            "waits for its slowest disk. Each was measured once: measure a slow one again before "
            "you replace it."
        )


def _sentence(rate: VolumeRateReport) -> str:
    share = format_percent(rate.observed / rate.expected)
    return (
        f"{rate.workload}, {rate.configuration}: {rate.direction}s moved {share} of what "
        f"{format_count(rate.disks, 'disk')} could. {_describe_requests(rate)}"
    )


def _describe_requests(rate: VolumeRateReport) -> str:
    """Say what copies, merging and the number of disks made of the requests of the volume."""
    copies = rate.member_requests / rate.requests if rate.requests else 0.0
    merged = rate.member_requests / rate.completed if rate.completed else 0.0
    alone = rate.expected_requests / rate.disks
    return (
        f"Each of its {format_figure(rate.requests)} requests/s became {format_figure(copies)} of "
        f"its disks. Merging made one of {format_figure(merged)}. The disks completed "
        f"{format_figure(rate.completed)}/s, {format_figure(rate.completed / alone)} times the "
        f"random {rate.direction}s of one disk alone."
    )


def _rate_table(noun: str, found: VolumeReport) -> TextTable:
    heads = ("workload", noun, "direction", "disks", "expected, MiB/s", "observed, MiB/s")
    requests = ("requests/s", "at the disks", "completed", "one disk alone")
    rows = [
        (
            *(rate.workload, rate.configuration, rate.direction, str(rate.disks)),
            *map(format_figure, (rate.expected, rate.observed)),
            *map(format_figure, (rate.requests, rate.member_requests, rate.completed)),
            format_figure(rate.expected_requests / rate.disks),
        )
        for rate in found.rates
    ]
    return TextTable("", (*heads, *requests), rows, names=3)


def _member_table(members: tuple[MemberReport, ...]) -> TextTable:
    rows = [
        (
            own.device,
            *map(format_figure, (own.read_rate, own.reads_per_second)),
            *map(format_figure, (own.write_rate, own.writes_per_second)),
        )
        for own in members
    ]
    sequential = ("sequential reads, MiB/s", "random reads/s")
    heads = ("disk", *sequential, "sequential writes, MiB/s", "random writes/s")
    return TextTable("Disks alone", heads, rows, names=1)


def _device_table(noun: str, found: VolumeReport) -> TextTable:
    rows = [
        (
            *(rate.workload, rate.configuration, rate.direction, own.device),
            *map(format_figure, (own.requests_in, own.requests_out)),
            format_figure(own.requests_in / own.requests_out if own.requests_out else 1.0),
        )
        for rate in found.rates
        for own in rate.devices
    ]
    heads = ("workload", noun, "direction", "device", "in/s", "out/s", "in per out")
    return TextTable("Requests from the volume down to its disks", heads, rows, names=4)
