"""Report sections on latencies, parts and figures without verdicts."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report.formatting import (
    format_against,
    format_change_interval,
    format_figure,
    format_signed_change,
)
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.measurements.matrix import Matrix, build_matrices
from iostudy.report.topics.measurements.values import (
    FigureMean,
    LatencyReport,
    PartReport,
    PartsReport,
)
from iostudy.report.values import WorkloadReport
from iostudy.units import format_reading

NO_VERDICT = (
    "Not used for verdicts: among many figures, some differ by chance. Means are geometric, over "
    "the blocks shared with the baseline (arithmetic and without a change where a figure is not "
    "positive)."
)
POOLED = (
    "Latencies in microseconds, pooled over all counted trials, to 4.4 %; not used for verdicts."
)

LATENCY = "latency"
"""The name of the section of latencies, which has charts in the page."""

_MOST_ROWS = 24
"""Longer tables are folded."""


def build_latency_table(workload: WorkloadReport) -> TextTable | None:
    """Build the percentiles of every operation and configuration, if any."""
    if not workload.latencies:
        return None
    first = workload.latencies[0]
    return TextTable(
        title="",
        heads=("operation", "configuration", *first.percentiles_us, "measured"),
        rows=[_latency(latency) for latency in workload.latencies],
        names=2,
    )


def _latency(latency: LatencyReport) -> tuple[str, ...]:
    values = map(format_figure, latency.percentiles_us.values())
    return (latency.operation, latency.configuration, *values, str(latency.count))


def build_figures_table(workload: WorkloadReport) -> TextTable | None:
    """All figures but the one that decides; None where no trial has one yet."""
    rows = [
        (
            other.figure.name,
            mean.configuration,
            format_reading(mean.value, other.figure.unit),
            _own(mean),
        )
        for other in workload.others
        for mean in other.means
        if mean.value is not None
    ]
    if not rows:
        return None
    against = format_against(workload.results[0].configuration)
    heads = ("figure", "configuration", "mean", against)
    return TextTable("all other figures", heads, rows, names=2)


def _own(mean: FigureMean) -> str:
    if mean.change is None:
        return ""
    return format_change_interval(mean.change, mean.interval)


def build_part_tables(parts: PartsReport) -> tuple[TextTable, ...]:
    """A row for each part; where they are the cells of a matrix, a table for each operation."""
    found = build_part_matrices(parts)
    if not found:
        return (_list(parts),)
    return tuple(
        _cells(matrix, parts, index)
        for matrix in found
        for index in range(len(parts.configurations))
    )


def build_part_matrices(parts: PartsReport) -> tuple[Matrix[PartReport], ...]:
    """The parts as matrices; none where they are not cells."""
    return build_matrices((part.labels, part) for part in parts.parts)


def _list(parts: PartsReport) -> TextTable:
    names = tuple(dict.fromkeys(name for part in parts.parts for name in part.labels))
    rows = [
        (
            *(part.labels.get(name, "") for name in names),
            *(format_part(part, index) for index in range(len(parts.configurations))),
        )
        for part in parts.parts
    ]
    heads = (*names, *parts.configurations)
    return TextTable("", heads, rows, names=len(names))


def _cells(matrix: Matrix[PartReport], parts: PartsReport, index: int) -> TextTable:
    heads, rows = matrix.table(lambda part: format_part(part, index))
    return TextTable(f"{matrix.operation}, {parts.configurations[index]}", heads, rows, names=1)


def format_part(part: PartReport, index: int) -> str:
    """A mean with its change, if it has one: ``1230 (+3.1 %)``; empty where there is no part."""
    value, change = part.values[index], part.changes[index]
    if value is None:
        return ""
    text = format_figure(value)
    return text if change is None else f"{text} ({format_signed_change(change)})"


def build_measurement_sections(workload: WorkloadReport) -> Iterator[Section]:
    """Return all tables of a workload in their order."""
    latency, other = build_latency_table(workload), build_figures_table(workload)
    if latency is not None:
        yield Section(LATENCY, "Latency", (POOLED,), tables=(latency,))
    for number, part in enumerate(workload.parts, 1):
        yield _parts(part, number)
    if other is not None:
        yield Section("others", "Other figures", (NO_VERDICT,), folded=(other,))


def _parts(parts: PartsReport, number: int) -> Section:
    better = "higher" if parts.figure.higher_is_better else "lower"
    what = f"{parts.figure.name} is {parts.figure.documentation}; {better} is better. {NO_VERDICT}"
    found = build_part_tables(parts)
    is_long = sum(len(table.rows) for table in found) > _MOST_ROWS
    return Section(
        name=f"parts-{number}",
        title=f"{parts.figure.name} of each part, {parts.figure.unit}",
        notes=(what,),
        tables=() if is_long else found,
        folded=found if is_long else (),
    )
