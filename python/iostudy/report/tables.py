"""What was measured beside the figure of the verdicts, as tables of text for every format."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report import wording
from iostudy.report.columns import TextTable
from iostudy.report.matrix import Matrix, matrices
from iostudy.report.section import Section
from iostudy.report.values.results import (
    LatencyTold,
    MeanTold,
    PartsTold,
    PartTold,
    WorkloadTold,
)
from iostudy.units import format_reading

NO_VERDICT = (
    "No verdict rests on these: among so many, some differ by chance alone. Means are geometric, "
    "over the blocks shared with the baseline (arithmetic, and without a change, where a figure is "
    "not above 0)."
)
POOLED = (
    "Latencies in microseconds, of all counted trials together, to 4.4 %; no verdict rests on them."
)

LATENCY = "latency"
"""The name of the section of latencies, which has charts in the page."""

_MOST_ROWS = 24
"""As many rows as are read in passing; tables with more are kept shut."""


def latencies(workload: WorkloadTold) -> TextTable | None:
    """Percentiles of every operation and configuration; None where there are none."""
    if not workload.latencies:
        return None
    first = workload.latencies[0]
    return TextTable(
        title="",
        heads=("operation", "configuration", *first.percentiles_us, "measured"),
        rows=[_latency(told) for told in workload.latencies],
        names=2,
    )


def _latency(told: LatencyTold) -> tuple[str, ...]:
    values = map(wording.significant, told.percentiles_us.values())
    return (told.operation, told.configuration, *values, str(told.count))


def others(workload: WorkloadTold) -> TextTable | None:
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
    against = wording.against(workload.results[0].configuration)
    heads = ("figure", "configuration", "mean", f"{against}, %")
    return TextTable("every figure but the one that decides", heads, rows, names=2)


def _own(mean: MeanTold) -> str:
    if mean.change is None:
        return ""
    return wording.change_within(mean.change, mean.interval)


def parts(told: PartsTold) -> tuple[TextTable, ...]:
    """A row for each part; where they are the cells of a matrix, a table for each operation."""
    found = cells(told)
    if not found:
        return (_list(told),)
    return tuple(
        _cells(matrix, told, index) for matrix in found for index in range(len(told.configurations))
    )


def cells(told: PartsTold) -> tuple[Matrix[PartTold], ...]:
    """The parts as matrices; none where they are not cells."""
    return matrices((part.labels, part) for part in told.parts)


def _list(told: PartsTold) -> TextTable:
    names = tuple(dict.fromkeys(name for part in told.parts for name in part.labels))
    rows = [
        (
            *(part.labels.get(name, "") for name in names),
            *(cell(part, index) for index in range(len(told.configurations))),
        )
        for part in told.parts
    ]
    heads = (*names, *told.configurations)
    return TextTable("", heads, rows, names=len(names))


def _cells(matrix: Matrix[PartTold], told: PartsTold, index: int) -> TextTable:
    heads, rows = matrix.table(lambda part: cell(part, index))
    return TextTable(f"{matrix.operation}, {told.configurations[index]}", heads, rows, names=1)


def cell(part: PartTold, index: int) -> str:
    """A mean with its change, if it has one: ``1230 (+3.1 %)``; empty where there is no part."""
    value, change = part.values[index], part.changes[index]
    if value is None:
        return ""
    told = wording.significant(value)
    return told if change is None else f"{told} ({wording.signed_percent(change)})"


def sections(workload: WorkloadTold) -> Iterator[Section]:
    """Every table of a workload, in the order in which it is told."""
    latency, other = latencies(workload), others(workload)
    if latency is not None:
        yield Section(LATENCY, "Latency", (POOLED,), tables=(latency,))
    for number, told in enumerate(workload.parts, 1):
        yield _parts(told, number)
    if other is not None:
        yield Section("others", "Other figures", (NO_VERDICT,), shut=(other,))


def _parts(told: PartsTold, number: int) -> Section:
    better = "higher" if told.figure.higher_is_better else "lower"
    what = f"{told.figure.name} is {told.figure.documentation}; {better} is better. {NO_VERDICT}"
    found = parts(told)
    is_long = sum(len(table.rows) for table in found) > _MOST_ROWS
    return Section(
        name=f"parts-{number}",
        title=f"{told.figure.name} of each part, {told.figure.unit}",
        known=(what,),
        tables=() if is_long else found,
        shut=found if is_long else (),
    )
