"""Scaling curves: a figure over the levels of a load."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import FiniteFloat

from iostudy.analysis.paired import Interval, as_fraction
from iostudy.analysis.ranking import IntervalEstimates
from iostudy.analysis.scaling import CrossingEstimate, CurveEstimate, find_estimated_crossings
from iostudy.ledger.rows import TrialRow
from iostudy.report.base import (
    FigureDescription,
    Span,
    UnderConfiguration,
    Value,
    build_span,
    finite,
)
from iostudy.report.drawing import (
    COLOURS,
    SHAPES,
    alt,
    cycle_items,
    encode_configuration,
    make_chart,
    make_legend,
)
from iostudy.report.formatting import UNKNOWN, format_change_interval, format_figure, join_words
from iostudy.report.names import name_configuration
from iostudy.report.section import Chart, Section, TextTable
from iostudy.report.topics.measurements import describe_figure
from iostudy.results.scaling import ScalingResult, analyze_scaling
from iostudy.study import reference
from iostudy.study.load_section import NODES_OPTION
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.reference import PublishedFigure
from iostudy.units import format_percent, format_rounded_size, format_seconds, format_significant
from iostudy.workloads import catalog

if TYPE_CHECKING:
    from iostudy.report.values import Report


class ValueInterval(Value):
    """Both ends of an interval, in the unit of the estimate."""

    low: FiniteFloat
    """Lower end."""
    high: FiniteFloat
    """Upper end."""


class LoadLevel(Value):
    """A level of load, and the workload that runs at it."""

    load: FiniteFloat
    """The load as a number."""
    text: str
    """The load as in the study file or the publication."""
    workload: str
    """Label of the workload."""


class ScalingPoint(Value):
    """One configuration at one level of load."""

    load: FiniteFloat
    """The load."""
    value: FiniteFloat | None
    """Geometric mean over its own blocks, in the figure's unit."""
    interval: ValueInterval | None
    """Confidence interval of the value; null if unknown."""
    step: FiniteFloat | None
    """Change since the previous load in the blocks of both, as a fraction; null at the first
    load."""
    step_interval: Span | None
    """Confidence interval of ``step``; null if unknown."""
    efficiency: FiniteFloat | None
    """Growth of the figure since the first load, divided by that of the load; null if lower is
    better."""
    efficiency_interval: ValueInterval | None
    """Confidence interval of ``efficiency``; null if unknown."""


class ScalingCurve(UnderConfiguration):
    """One configuration over all loads.

    ``knee``, ``pays_up_to``, ``holds_up_to`` and ``peak`` are confidence sets of a load.
    """

    points: tuple[ScalingPoint, ...]
    """Estimates by load."""
    rises: bool
    """Whether some load is shown to be better than the lowest one by at least the margin."""
    knee: tuple[FiniteFloat, ...]
    """``pays_up_to`` if the curve rises, otherwise ``holds_up_to``."""
    pays_up_to: tuple[FiniteFloat, ...]
    """Saturation: the lowest load that no higher one exceeds by at least the margin."""
    holds_up_to: tuple[FiniteFloat, ...]
    """Stability: the highest load that no lower one exceeds by at least the margin."""
    peak: tuple[FiniteFloat, ...]
    """Loads that no other is shown to exceed."""


class CurveCrossing(Value):
    """Crossing of two curves.

    ``overtaking`` is worse at the load ``below`` and better at the load ``above``.
    """

    overtaking: str
    """Label of the configuration that is better at the higher load."""
    overtaken: str
    """Label of the other configuration."""
    below: FiniteFloat
    """The load before the crossing."""
    above: FiniteFloat
    """The load after it."""
    load: FiniteFloat
    """Estimated load of the crossing, by straight lines on a logarithmic axis."""
    interval: ValueInterval | None
    """Confidence interval of that load; null unless both loads have a verdict."""


class PublishedCurves(Value):
    """Published curves of one figure. Their errors are unknown."""

    reference: str
    """Name of the reference."""
    figure: str
    """Name of the figure."""
    unit: str
    """Published unit."""
    levels: tuple[LoadLevel, ...]
    """Published loads."""
    values: dict[str, tuple[FiniteFloat | None, ...]]
    """Values by configuration, in the order of ``levels``; null if not published."""
    crossings: tuple[CurveCrossing, ...]
    """Crossings of the published curves."""


class ScalingReport(Value):
    """Scaling curves of one workload."""

    workload: str
    """Label of the workload in the study file, common to all loads."""
    option: str
    """Option that sets the load, such as ``jobs``."""
    figure: FigureDescription
    """The figure that decides."""
    levels: tuple[LoadLevel, ...]
    """The loads."""
    curves: tuple[ScalingCurve, ...]
    """Curves in the study's order of configurations."""
    crossings: tuple[CurveCrossing, ...]
    """Crossings of pairs of curves."""
    published: tuple[PublishedCurves, ...] = ()
    """Published curves of the same workload."""


def build_crossings(
    found: Iterable[CrossingEstimate], labels: Sequence[str], loads: Sequence[float]
) -> tuple[CurveCrossing, ...]:
    """Crossings of configurations, of which they have the indices, as those of loads."""
    return tuple(_meeting(each, labels, loads) for each in found)


def _meeting(
    crossing: CrossingEstimate, labels: Sequence[str], loads: Sequence[float]
) -> CurveCrossing:
    interval = crossing.interval
    return CurveCrossing(
        overtaking=labels[crossing.overtaking],
        overtaken=labels[crossing.overtaken],
        below=loads[crossing.below],
        above=loads[crossing.above],
        load=crossing.load,
        interval=None if interval is None else ValueInterval(low=interval[0], high=interval[1]),
    )


def build_published_curves(study: Study, workload: WorkloadRequest) -> tuple[PublishedCurves, ...]:
    """Each figure that the publication of the study has of a workload at several loads.

    The loads themselves need not be those of the study: curves are compared by their shape.
    """
    if study.reference is None or workload.load is None:
        return ()
    published = reference.get(study.reference)
    if published.load != workload.load.option:
        return ()
    own = [f for f in published.figures if f.load is not None and f.is_of(workload)]
    return tuple(
        _curves(study.reference, [f for f in own if f.figure == name], workload)
        for name in dict.fromkeys(figure.figure for figure in own)
    )


def _curves(
    name: str, figures: Sequence[PublishedFigure], workload: WorkloadRequest
) -> PublishedCurves:
    """One figure under all configurations; where one lacks a load, no crossing is looked for."""
    loads = sorted({figure.load for figure in figures if figure.load is not None})
    labels = list(dict.fromkeys(figure.configuration for figure in figures))
    values = {(figure.configuration, figure.load): figure.value for figure in figures}
    own = catalog.get(workload.name).figure(figures[0].figure, workload.options)
    sign = 1 if own.higher_is_better else -1
    is_whole = len(values) == len(labels) * len(loads)
    logs = [[sign * np.log(values[label, load]) for label in labels] for load in loads if is_whole]
    return PublishedCurves(
        reference=name,
        figure=own.name,
        unit=figures[0].unit,
        levels=tuple(LoadLevel(load=load, text=f"{load:g}", workload="") for load in loads),
        values={label: tuple(values.get((label, load)) for load in loads) for label in labels},
        crossings=build_crossings(find_estimated_crossings(loads, logs), labels, loads)
        if logs
        else (),
    )


def build_scaling(study: Study, rows: Sequence[TrialRow]) -> tuple[ScalingReport, ...]:
    """The curves of every workload that has a load."""
    return tuple(_build_curves(study, each) for each in analyze_scaling(study, rows))


def _build_curves(study: Study, found: ScalingResult) -> ScalingReport:
    first = found.requests[0]
    levels = tuple(
        LoadLevel(load=own.load.level, text=own.load.text, workload=own.label)
        for own in found.requests
        if own.load is not None
    )
    loads = [level.load for level in levels]
    sign = 1 if first.figure.higher_is_better else -1
    return ScalingReport(
        workload=first.listed_as,
        option=first.load.option if first.load else "",
        figure=describe_figure(first.figure),
        levels=levels,
        curves=tuple(
            _curve(own.label, curve, loads, sign)
            for own, curve in zip(study.configurations(), found.curves, strict=True)
        ),
        crossings=build_crossings(found.crossings, [own.label for own in study.choices()], loads),
        published=build_published_curves(study, first),
    )


def _curve(label: str, curve: CurveEstimate, loads: Sequence[float], sign: int) -> ScalingCurve:
    def loads_at(levels: Sequence[int]) -> tuple[float, ...]:
        return tuple(loads[level] for level in levels)

    return ScalingCurve(
        configuration=label,
        points=tuple(_point(curve, level, loads, sign) for level in range(len(loads))),
        rises=curve.rises,
        knee=loads_at(curve.knee),
        pays_up_to=loads_at(curve.saturates_at),
        holds_up_to=loads_at(curve.stable_up_to),
        peak=loads_at(curve.peak),
    )


def _point(curve: CurveEstimate, level: int, loads: Sequence[float], sign: int) -> ScalingPoint:
    """``sign`` is +1 where higher is better, else -1: estimates are of s ln y."""
    value = _extract_estimate(curve.values, level, sign)
    step = _extract_estimate(curve.gains, (level - 1, level), sign) if level else None
    growth = _extract_estimate(curve.gains, (0, level), sign) if level and sign > 0 else None
    ideal = math.log(loads[level] / loads[0])
    return ScalingPoint(
        load=loads[level],
        value=_exp(value.middle),
        interval=_ends(value),
        step=None if step is None else finite(as_fraction(step.middle)),
        step_interval=None if step is None else build_span(step.interval.as_fractions()),
        efficiency=None if growth is None else _exp(growth.middle - ideal),
        efficiency_interval=None if growth is None else _ends(growth, ideal),
    )


@dataclass(frozen=True)
class _Logarithm:
    """ln of a figure or of a ratio of two, with its interval."""

    middle: float
    interval: Interval


def _extract_estimate(
    estimates: IntervalEstimates, place: int | tuple[int, int], sign: int
) -> _Logarithm:
    """Return the estimate of the figure itself, whichever direction is better."""
    low, high = float(estimates.low[place]), float(estimates.high[place])
    interval = Interval(low, high) if sign > 0 else Interval(-high, -low)
    return _Logarithm(sign * float(estimates.value[place]), interval)


def _ends(found: _Logarithm, less: float = 0.0) -> ValueInterval | None:
    low, high = _exp(found.interval.low - less), _exp(found.interval.high - less)
    return None if not low or high is None else ValueInterval(low=low, high=high)


def _exp(logarithm: float) -> float | None:
    """None for what is unknown, or too large to hold."""
    return finite(as_fraction(logarithm) + 1)


_MOST_NAMED = 3
"""More configurations than these are counted."""


def describe_crossings(scaling: ScalingReport, factor: str = "") -> tuple[str, ...]:
    """A sentence for each crossing that verdicts show."""
    return tuple(
        f"On {scaling.workload}, {format_crossing(each, scaling.option, scaling.levels, factor)}."
        for each in scaling.crossings
        if each.interval is not None
    )


def describe_knees(scaling: ScalingReport, factor: str = "") -> Iterator[str]:
    """Configurations of which the same holds share a sentence."""
    sharing: dict[str, list[str]] = {}
    for curve in scaling.curves:
        name = name_configuration(curve.configuration, factor)
        sharing.setdefault(_knee(curve, scaling), []).append(name)
    for said, labels in sharing.items():
        if len(labels) == len(scaling.curves) > 1:
            named = "every configuration"
        elif len(labels) > _MOST_NAMED:
            named = f"{len(labels)} configurations"
        else:
            named = join_words(labels)
        yield f"With {named}, {said}."


def _knee(curve: ScalingCurve, scaling: ScalingReport) -> str:
    """Saturation of a curve that improves with load, stability of others."""
    is_highest = curve.knee == (scaling.levels[-1].load,)
    loads = _with_option(format_levels(curve.knee, scaling.levels), scaling.option, scaling.levels)
    which = "" if len(curve.knee) == 1 else "; which one is not decided"
    name = scaling.figure.name
    if curve.rises:
        if is_highest:
            return f"{name} improves up to {loads}, the highest load"
        return f"{name} saturates at {loads}{which}"
    if len(curve.pays_up_to) > 1:
        return f"saturation of {name} is not decided"
    if is_highest:
        return f"{name} is stable over all loads"
    return f"{name} does not improve with load; it is stable up to {loads}{which}"


def describe_growth(scaling: ScalingReport, factor: str = "") -> Iterator[str]:
    """How far each configuration scales from the fewest nodes to the most, of not too many."""
    if scaling.option != NODES_OPTION or len(scaling.curves) > _MOST_NAMED:
        return
    first, last = scaling.levels[0], scaling.levels[-1]
    for curve in scaling.curves:
        efficiency = curve.points[-1].efficiency
        if efficiency is not None:
            grown = efficiency * last.load / first.load
            yield (
                f"With {name_configuration(curve.configuration, factor)}, {last.text} nodes have "
                f"{format_significant(grown)} times the {scaling.figure.name} of {first.text}: a "
                f"scaling efficiency of {format_efficiency(curve.points[-1])} %."
            )


def format_efficiency(point: ScalingPoint) -> str:
    """``61.8 [55.2, 69.1]``, in percent."""
    if point.efficiency is None:
        return UNKNOWN
    ends = point.efficiency_interval
    within = "" if ends is None else f" [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"
    return f"{100 * point.efficiency:.1f}{within}"


def format_crossing(
    meeting: CurveCrossing, option: str, levels: Sequence[LoadLevel], factor: str = ""
) -> str:
    """``HDFS overtakes Lustre between 60 and 80 jobs, at about 71 [66, 77]``."""
    over = name_configuration(meeting.overtaking, factor)
    under = name_configuration(meeting.overtaken, factor)
    about = format_crossing_load(meeting, levels)
    ends = format_levels_between(meeting, option, levels)
    return f"{over} overtakes {under} between {ends}, at about {about}"


def format_levels_between(meeting: CurveCrossing, option: str, levels: Sequence[LoadLevel]) -> str:
    """``60 and 80 jobs``: the levels on either side."""
    ends = " and ".join(_text(load, levels) for load in (meeting.below, meeting.above))
    return _with_option(ends, option, levels)


def format_levels(loads: Sequence[float], levels: Sequence[LoadLevel]) -> str:
    """``2, 4 or 8``."""
    return join_words([_text(load, levels) for load in loads], "or")


def _text(load: float, levels: Sequence[LoadLevel]) -> str:
    return next(level.text for level in levels if level.load == load)


def _with_option(text: str, option: str, levels: Sequence[LoadLevel]) -> str:
    """``60 and 80 jobs``, and ``event_size 512KiB and 1MiB`` where levels have units."""
    return f"{text} {option}" if _unit(levels) == "" else f"{option} {text}"


def _unit(levels: Sequence[LoadLevel]) -> str:
    return levels[0].text.lstrip("0123456789.")


def format_crossing_load(meeting: CurveCrossing, levels: Sequence[LoadLevel]) -> str:
    """``71.2 [66.0, 77.3]``, in the kind of unit that the levels have."""
    if meeting.interval is None:
        return _number(meeting.load, levels)
    low, high = (_number(end, levels) for end in (meeting.interval.low, meeting.interval.high))
    return f"{_number(meeting.load, levels)} [{low}, {high}]"


def _number(load: float, levels: Sequence[LoadLevel]) -> str:
    unit = _unit(levels)
    if unit.endswith("B"):
        return format_rounded_size(round(load))
    if unit in ("us", "ms", "s", "min", "h"):
        return format_seconds(load)
    return format_significant(load)


def build_scaling_sections(report: Report) -> tuple[Section, ...]:
    """One for each workload that has a load."""
    return tuple(_section(scaling, report, n) for n, scaling in enumerate(report.curves, 1))


def _section(scaling: ScalingReport, report: Report, number: int) -> Section:

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
        draw=lambda: build_scaling_charts(scaling, report),
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
    return f"{format_figure(point.value)}{_section_ends(point.interval)}"


def _section_ends(ends: ValueInterval | None) -> str:
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


_HEIGHT = 300
_APART = 0.012
"""Distance of neighbouring configurations' points, as a share of the load."""


def build_scaling_charts(scaling: ScalingReport, report: Report) -> tuple[Chart, ...]:
    """The user's own curves, and those that others have published."""
    own = [_own(scaling, report)] if _rows(scaling) else []
    return (*own, *(_chart_published(each, scaling.option) for each in scaling.published))


def _own(scaling: ScalingReport, report: Report) -> Chart:
    rows = _rows(scaling)
    colour, shape = encode_configuration(report)
    x, y = _axes(scaling.levels, scaling.option, f"{scaling.figure.name}, {scaling.figure.unit}")
    base = alt.Chart(alt.InlineData(values=rows))
    tooltip = [
        alt.Tooltip("configuration:N"),
        alt.Tooltip("at:Q", title="load"),
        *(alt.Tooltip(f"{field}:Q", format=".4r") for field in ("value", "low", "high")),
    ]
    layers = [
        *_meetings(scaling.crossings, x),
        base.mark_line(strokeWidth=1.8).encode(x=x, y=y, color=colour),
        base.mark_rule(strokeWidth=2).encode(x=x, y="low:Q", y2="high:Q", color=colour),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=tooltip
        ),
    ]
    knees = [row for row in rows if row["knee"]]
    if knees:
        ring = alt.Chart(alt.InlineData(values=knees)).mark_point(**_RING)
        layers.append(ring.encode(x=x, y=y, tooltip=tooltip))
    return Chart(
        make_chart(layers, height=_HEIGHT),
        f"Line chart of {scaling.figure.name} by {scaling.option}, a line for each configuration; "
        "the tables below have its values.",
        "Bars: intervals, with configurations slightly offset. Ring: decided knee. Dashed line: "
        "crossing of two curves, with its interval as a band. Both axes are logarithmic.",
    )


def _chart_published(published: PublishedCurves, option: str) -> Chart:
    labels = list(published.values)
    rows = [
        {"configuration": label, "load": level.load, "value": value}
        for label, values in published.values.items()
        for level, value in zip(published.levels, values, strict=True)
        if value is not None
    ]
    legend = make_legend(labels)
    colours = cycle_items(COLOURS, len(labels))
    shapes = cycle_items(SHAPES, len(labels))
    colour = alt.Color("configuration:N", legend=legend).scale(domain=labels, range=colours)
    shape = alt.Shape("configuration:N", legend=legend).scale(domain=labels, range=shapes)
    x, y = _axes(published.levels, option, f"{published.figure}, {published.unit}")
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, color=colour)
    layers = (
        *_meetings(published.crossings, x),
        base.mark_line(strokeWidth=1.8),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            shape=shape, tooltip=["configuration:N", "load:Q", "value:Q"]
        ),
    )
    return Chart(
        make_chart(layers, height=_HEIGHT, title=f"{published.reference}, as published"),
        f"Line chart of {published.figure} by {option} as {published.reference} has it, a line for "
        "each configuration; a table below has its values.",
        f"{published.reference}'s own machine; its errors are unknown.",
    )


def _rows(scaling: ScalingReport) -> list[dict[str, Any]]:
    middle = (len(scaling.curves) - 1) / 2
    return [
        row
        for place, curve in enumerate(scaling.curves)
        for row in _chart_curve(curve, scaling, 1 + _APART * (place - middle))
    ]


def _chart_curve(
    curve: ScalingCurve, scaling: ScalingReport, aside: float
) -> Iterator[dict[str, Any]]:
    highest = scaling.levels[-1].load
    for point in curve.points:
        if point.value is not None:
            ends = point.interval
            yield {
                "configuration": curve.configuration,
                "load": point.load * aside,
                "at": point.load,
                "value": point.value,
                "low": ends.low if ends else point.value,
                "high": ends.high if ends else point.value,
                "knee": curve.knee == (point.load,) and point.load != highest,
            }


def _axes(levels: Sequence[LoadLevel], option: str, title: str) -> tuple[alt.X, alt.Y]:
    loads = [level.load for level in levels]
    texts = {f"{level.load:g}": level.text for level in levels}
    label = f"{{{','.join(f'{k!r}:{v!r}' for k, v in texts.items())}}}[datum.value]"
    axis = alt.Axis(values=loads, labelExpr=label, grid=False)
    x = alt.X("load:Q", title=option, axis=axis)
    ends = [loads[0] / 1.1, loads[-1] * 1.1]
    x = x.scale(type="log", nice=False, domain=ends)
    y = alt.Y("value:Q", title=title, axis=alt.Axis(format=",.3~r", tickCount=6))
    return x, y.scale(type="log", nice=False, padding=12)


def _meetings(crossings: Sequence[CurveCrossing], x: alt.X) -> Iterator[alt.Chart]:
    """A band over the interval, and a line where the curves meet."""
    rows = [
        {
            "load": each.load,
            "low": each.interval.low if each.interval else each.load,
            "high": each.interval.high if each.interval else each.load,
            "crossing": f"{each.overtaking} overtakes {each.overtaken}",
        }
        for each in crossings
    ]
    if rows:
        base = alt.Chart(alt.InlineData(values=rows))
        tooltip = [alt.Tooltip("crossing:N"), alt.Tooltip("load:Q", format=".3s")]
        yield base.mark_rect(fill="currentColor", opacity=0.1).encode(x="low:Q", x2="high:Q")
        yield base.mark_rule(color="currentColor", strokeDash=[5, 4], opacity=0.7).encode(
            x=x, tooltip=tooltip
        )


_RING: dict[str, Any] = {
    "shape": "circle",
    "stroke": "currentColor",
    "strokeWidth": 1.5,
    "size": 320,
    "filled": False,
}
