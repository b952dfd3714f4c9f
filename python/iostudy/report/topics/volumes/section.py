"""Report section on a volume: its disks alone, expected and observed rates, and merging."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report.formatting import format_figure, join_words
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.volumes.values import MemberReport, VolumeRateReport, VolumeReport
from iostudy.report.values import Report
from iostudy.units import format_percent

_EXPLANATION = (
    "Each disk was read alone before the volume was made. Expected is the sequential rate of the "
    "slowest disk, times the disks that can work on different data at a time: all of them for "
    "reads, without copies and parity for writes. Observed is the mean rate of the volume over "
    "whole trials, so small or random requests and one reader explain lower shares."
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
        folded=(_member_table(found.members),),
    )


def _slow_members(found: VolumeReport) -> Iterator[str]:
    slow = [member.device for member in found.members if member.is_slow]
    if slow:
        verb = "is" if len(slow) == 1 else "are"
        yield (
            f"{join_words(slow)} {verb} slower than 80 % of the median disk, and every stripe "
            "waits for its slowest disk. Replace it, or leave it out."
        )


def _sentence(rate: VolumeRateReport) -> str:
    share = format_percent(rate.observed / rate.expected)
    return (
        f"{rate.workload}, {rate.configuration}: {rate.direction}s moved {share} of what "
        f"{rate.disks} disks could, and {_describe_requests(rate)}."
    )


def _describe_requests(rate: VolumeRateReport) -> str:
    copies = rate.member_requests / rate.requests if rate.requests else 0.0
    merged = rate.member_requests / rate.completed if rate.completed else 0.0
    return (
        f"each request of the volume became {format_figure(copies)} of its disks, which merged "
        f"{format_figure(merged)} into one"
    )


def _rate_table(noun: str, found: VolumeReport) -> TextTable:
    heads = ("workload", noun, "direction", "disks", "expected, MiB/s", "observed, MiB/s")
    requests = ("requests/s", "at the disks", "completed")
    rows = [
        (
            *(rate.workload, rate.configuration, rate.direction, str(rate.disks)),
            *map(format_figure, (rate.expected, rate.observed)),
            *map(format_figure, (rate.requests, rate.member_requests, rate.completed)),
        )
        for rate in found.rates
    ]
    return TextTable("", (*heads, *requests), rows, names=3)


def _member_table(members: tuple[MemberReport, ...]) -> TextTable:
    rows = [
        (own.device, format_figure(own.read_rate), format_figure(own.reads_per_second))
        for own in members
    ]
    heads = ("disk", "sequential reads, MiB/s", "random reads/s")
    return TextTable("Disks alone", heads, rows, names=1)
