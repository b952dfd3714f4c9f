"""Scaling curves as sections of the report: how far more load pays, and who overtakes whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy.report import curves_wording, wording
from iostudy.report.columns import TextTable
from iostudy.report.section import Section
from iostudy.report.values.curves import (
    CurvesTold,
    Ends,
    PointTold,
    PublishedCurvesTold,
)
from iostudy.report.values.report import Report
from iostudy.units import format_percent, format_significant


def sections(report: Report) -> tuple[Section, ...]:
    """One for each workload that has a load."""
    return tuple(_section(told, report, n) for n, told in enumerate(report.curves, 1))


def _section(told: CurvesTold, report: Report, number: int) -> Section:
    from iostudy.report import curves_chart  # it draws, and what draws takes long to load

    return Section(
        name=f"curves-{number}",
        title=f"{told.workload} by {told.option}",
        known=(
            *curves_wording.shown_crossings(told),
            *curves_wording.knees(told),
            *_remarks(told),
            _known(told, report),
        ),
        drawn=curves_chart.drawn(told, report),
        tables=(_values(told), _knee_table(told, report), *_crossing_table(told)),
        shut=(_steps(told, report), *(_published(own, told.option) for own in told.published)),
    )


def _known(told: CurvesTold, report: Report) -> str:
    margin, risk = format_percent(report.method.margin), format_percent(report.method.risk)
    better = "higher" if told.figure.higher_is_better else "lower"
    return (
        f"Of {told.figure.name}, {better} is better. Pays up to: the first load from which no "
        f"higher one is better by {margin} or more. Holds up to: the last load than which no lower "
        "one is better by as much. Several loads in one place: it is one of these. All that is "
        f"told of knees and steps holds at once, but for a risk of {risk}. So do the intervals of "
        "values, but where noise is lopsided, or remembers."
    )


def _remarks(told: CurvesTold) -> Iterator[str]:
    """What estimates alone say, and where others have seen curves cross."""
    for each in told.crossings:
        if each.interval is None:
            said = curves_wording.crossing(each, told.option, told.levels)
            yield f"In estimates, of which verdicts show one side only: {said}."
    for own in told.published:
        crossed = "; ".join(
            curves_wording.crossing(each, told.option, own.levels) for each in own.crossings
        )
        if crossed:
            yield f"{own.reference}, {own.figure}, as published and without intervals: {crossed}."


def _values(told: CurvesTold) -> TextTable:
    """A row for each load, a column for each configuration."""
    heads = (told.option, *(curve.configuration for curve in told.curves))
    points = zip(*(curve.points for curve in told.curves), strict=True)
    rows = [(level.text, *map(_value, own)) for level, own in zip(told.levels, points, strict=True)]
    return TextTable(f"{told.figure.name}, {told.figure.unit}", heads, rows, names=1)


def _value(point: PointTold) -> str:
    return f"{wording.significant(point.value)}{_ends(point.interval)}"


def _ends(ends: Ends | None) -> str:
    if ends is None:
        return ""
    return f" [{format_significant(ends.low)}, {format_significant(ends.high)}]"


def _knee_table(told: CurvesTold, report: Report) -> TextTable:
    heads = (report.noun, "pays up to", "holds up to", "best at")
    rows = [
        (
            curve.configuration,
            curves_wording.any_of(curve.pays_up_to, told.levels),
            curves_wording.any_of(curve.holds_up_to, told.levels),
            curves_wording.any_of(curve.peak, told.levels),
        )
        for curve in told.curves
    ]
    return TextTable("how far more load pays", heads, rows, names=1)


def _crossing_table(told: CurvesTold) -> Iterator[TextTable]:
    if not told.crossings:
        return
    heads = ("ahead below", "ahead above", "between", f"{told.option}, about", "shown by")
    rows = [
        (
            each.overtaken,
            each.overtaking,
            curves_wording.between(each, told.option, told.levels),
            curves_wording.meeting_load(each, told.levels),
            "estimates" if each.interval is None else "verdicts",
        )
        for each in told.crossings
    ]
    yield TextTable("where curves cross", heads, rows, names=2)


def _steps(told: CurvesTold, report: Report) -> TextTable:
    """What each step of load brings, and how much of what proportion would bring is left."""
    first, *others = (level.text for level in told.levels)
    steps = [f"{low} to {high}" for low, high in zip((first, *others), others, strict=False)]
    proportion = f"share of proportional growth since {first}, %"
    shares = (proportion,) if told.figure.higher_is_better else ()
    heads = (report.noun, told.option, f"change of {told.figure.name}, %", *shares)
    rows = [
        (
            curve.configuration,
            step,
            wording.change_within(point.step, point.step_interval),
            *((_efficiency(point),) if told.figure.higher_is_better else ()),
        )
        for curve in told.curves
        for step, point in zip(steps, curve.points[1:], strict=True)
    ]
    return TextTable("what each step brings", heads, rows, names=2)


def _efficiency(point: PointTold) -> str:
    if point.efficiency is None:
        return wording.UNKNOWN
    ends = point.efficiency_interval
    within = "" if ends is None else f" [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"
    return f"{100 * point.efficiency:.1f}{within}"


def _published(told: PublishedCurvesTold, option: str) -> TextTable:
    """As published, and in brackets how many times the first load's value that is."""
    rows = [
        (level.text, *(_times(values, place) for values in told.values.values()))
        for place, level in enumerate(told.levels)
    ]
    unit = "" if told.unit == told.figure else f", {told.unit}"
    title = f"{told.reference}: {told.figure}{unit} (times the value at the first load)"
    return TextTable(title, (option, *told.values), rows, names=1)


def _times(values: Sequence[float | None], place: int) -> str:
    value, first = values[place], values[0]
    if value is None:
        return wording.UNKNOWN
    return f"{value:g}" if place == 0 or not first else f"{value:g} ({value / first:.2f})"
