"""Report sections on scaling: knees, crossings and steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy.report.formatting import UNKNOWN, format_change_interval, format_figure
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.scaling.text import (
    describe_crossings,
    describe_growth,
    describe_knees,
    format_crossing,
    format_crossing_load,
    format_efficiency,
    format_levels,
    format_levels_between,
)
from iostudy.report.topics.scaling.values import (
    PublishedCurves,
    ScalingPoint,
    ScalingReport,
    ValueInterval,
)
from iostudy.report.values import Report
from iostudy.units import format_percent, format_significant


def build_scaling_sections(report: Report) -> tuple[Section, ...]:
    """One for each workload that has a load."""
    return tuple(_section(scaling, report, n) for n, scaling in enumerate(report.curves, 1))


def _section(scaling: ScalingReport, report: Report, number: int) -> Section:
    # Imported here: what draws takes long to load.
    from iostudy.report.topics.scaling.chart import build_scaling_charts

    return Section(
        name=f"curves-{number}",
        title=f"{scaling.workload} by {scaling.option}",
        notes=(
            *describe_crossings(scaling, report.factor),
            *describe_knees(scaling, report.factor),
            *describe_growth(scaling, report.factor),
            *_remarks(scaling, report.factor),
            _known(scaling, report),
        ),
        charts=build_scaling_charts(scaling, report),
        tables=(
            _values(scaling),
            *_efficiency_table(scaling),
            _knee_table(scaling, report),
            *_crossing_table(scaling),
        ),
        folded=(
            _steps(scaling, report),
            *(_published(own, scaling.option) for own in scaling.published),
        ),
    )


def _known(scaling: ScalingReport, report: Report) -> str:
    margin, risk = format_percent(report.method.margin), format_percent(report.method.risk)
    better = "Higher" if scaling.figure.higher_is_better else "Lower"
    return (
        f"{better} is better for {scaling.figure.name}. Saturates at: the lowest load above which "
        f"no load is better by {margin} or more. Stable up to: the highest load below which no "
        f"load is better by {margin} or more. Several loads in one cell: it is one of these. All "
        f"statements on knees and steps hold together, with an error rate of {risk}. So do the "
        "intervals of values, unless noise is skewed or autocorrelated."
    )


def _remarks(scaling: ScalingReport, factor: str) -> Iterator[str]:
    """Return remarks on estimates without tests, and on published crossings."""
    for each in scaling.crossings:
        if each.interval is None:
            said = format_crossing(each, scaling.option, scaling.levels, factor)
            yield f"By estimates, of which verdicts confirm one side only: {said}."
    for own in scaling.published:
        crossed = "; ".join(
            format_crossing(each, scaling.option, own.levels) for each in own.crossings
        )
        if crossed:
            yield f"{own.reference}, {own.figure}, as published and without intervals: {crossed}."


def _values(scaling: ScalingReport) -> TextTable:
    """A row for each load, a column for each configuration."""
    heads = (scaling.option, *(curve.configuration for curve in scaling.curves))
    points = zip(*(curve.points for curve in scaling.curves), strict=True)
    rows = [
        (level.text, *map(_value, own)) for level, own in zip(scaling.levels, points, strict=True)
    ]
    return TextTable(f"{scaling.figure.name}, {scaling.figure.unit}", heads, rows, names=1)


def _efficiency_table(scaling: ScalingReport) -> Iterator[TextTable]:
    """Growth relative to a proportional one, if higher is better."""
    if not scaling.figure.higher_is_better:
        return
    first, *others = scaling.levels
    points = zip(*(curve.points[1:] for curve in scaling.curves), strict=True)
    rows = [
        (level.text, *map(format_efficiency, own))
        for level, own in zip(others, points, strict=True)
    ]
    title = f"scaling efficiency: growth since {first.text}, as a share of proportional growth, %"
    heads = (scaling.option, *(curve.configuration for curve in scaling.curves))
    yield TextTable(title, heads, rows, names=1)


def _value(point: ScalingPoint) -> str:
    return f"{format_figure(point.value)}{_ends(point.interval)}"


def _ends(ends: ValueInterval | None) -> str:
    if ends is None:
        return ""
    return f" [{format_significant(ends.low)}, {format_significant(ends.high)}]"


def _knee_table(scaling: ScalingReport, report: Report) -> TextTable:
    heads = (report.noun, "saturates at", "stable up to", "best at")
    rows = [
        (
            curve.configuration,
            format_levels(curve.pays_up_to, scaling.levels),
            format_levels(curve.holds_up_to, scaling.levels),
            format_levels(curve.peak, scaling.levels),
        )
        for curve in scaling.curves
    ]
    return TextTable("saturation", heads, rows, names=1)


def _crossing_table(scaling: ScalingReport) -> Iterator[TextTable]:
    if not scaling.crossings:
        return
    heads = ("ahead below", "ahead above", "between", f"{scaling.option}, about", "shown by")
    rows = [
        (
            each.overtaken,
            each.overtaking,
            format_levels_between(each, scaling.option, scaling.levels),
            format_crossing_load(each, scaling.levels),
            "estimates" if each.interval is None else "verdicts",
        )
        for each in scaling.crossings
    ]
    yield TextTable("crossings", heads, rows, names=2)


def _steps(scaling: ScalingReport, report: Report) -> TextTable:
    """Return the gain of each step of load."""
    first, *others = (level.text for level in scaling.levels)
    steps = [f"{low} to {high}" for low, high in zip((first, *others), others, strict=False)]
    heads = (report.noun, scaling.option, f"change of {scaling.figure.name}")
    rows = [
        (curve.configuration, step, format_change_interval(point.step, point.step_interval))
        for curve in scaling.curves
        for step, point in zip(steps, curve.points[1:], strict=True)
    ]
    return TextTable("change at each step of load", heads, rows, names=2)


def _published(published: PublishedCurves, option: str) -> TextTable:
    """Return the published value, and in brackets its ratio to that of the first load."""
    rows = [
        (level.text, *(_times(values, place) for values in published.values.values()))
        for place, level in enumerate(published.levels)
    ]
    unit = "" if published.unit == published.figure else f", {published.unit}"
    title = f"{published.reference}: {published.figure}{unit} (times the value at the first load)"
    return TextTable(title, (option, *published.values), rows, names=1)


def _times(values: Sequence[float | None], place: int) -> str:
    value, first = values[place], values[0]
    if value is None:
        return UNKNOWN
    return f"{value:g}" if place == 0 or not first else f"{value:g} ({value / first:.2f})"
