"""Scaling curves: a figure over the levels of a load."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import FiniteFloat

from iostudy.analysis.paired import as_fraction
from iostudy.analysis.ranking import IntervalEstimates, Ranking
from iostudy.analysis.scaling import CrossingEstimate, CurveEstimate, find_estimated_crossings
from iostudy.ledger.rows import MeasuredRow
from iostudy.report.base import Interval, Span, UnderConfiguration, Value, build_span, finite
from iostudy.report.drawing import (
    INK,
    LOGARITHMIC,
    READABLE,
    Spec,
    encode_configuration,
    encode_labels,
    field,
    layer,
    make_chart,
)
from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_mean,
    join_words,
    name_configuration,
)
from iostudy.report.section import Chart, Section, TextTable, make_table
from iostudy.results.scaling import analyze_scaling
from iostudy.study import reference
from iostudy.study.model import Study, WorkloadRequest
from iostudy.units import format_percent, format_rounded_size, format_seconds, format_significant
from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure

if TYPE_CHECKING:
    from iostudy.report.values import Report


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
    interval: Span | None
    """Confidence interval of the value; null if unknown."""
    step: FiniteFloat | None
    """Change since the previous load in the blocks of both, as a fraction; null at the first
    load."""
    step_interval: Span | None
    """Confidence interval of ``step``; null if unknown."""
    efficiency: FiniteFloat | None
    """Growth of the figure since the first load, divided by that of the load; null if lower is
    better."""
    efficiency_interval: Span | None
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
    interval: Interval
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
    figure: Figure
    """The figure that decides."""
    levels: tuple[LoadLevel, ...]
    """The loads."""
    curves: tuple[ScalingCurve, ...]
    """Curves in the study's order of configurations."""
    crossings: tuple[CurveCrossing, ...]
    """Crossings of pairs of curves."""
    published: tuple[PublishedCurves, ...] = ()
    """Published curves of the same workload."""


def build_published_curves(study: Study, workload: WorkloadRequest) -> Iterator[PublishedCurves]:
    """Each figure that the publication of the study has of a workload at several loads.

    The loads themselves need not be those of the study: curves are compared by their shape. Where
    a configuration lacks a load, no crossing is looked for.
    """
    if study.reference is None or workload.load is None:
        return
    published = reference.get(study.reference)
    if published.load != workload.load.option:
        return
    known = [f for f in published.figures if f.load is not None and f.is_of(workload)]
    for name in dict.fromkeys(figure.figure for figure in known):
        figures = [figure for figure in known if figure.figure == name]
        loads = sorted({figure.load for figure in figures if figure.load is not None})
        labels = list(dict.fromkeys(figure.configuration for figure in figures))
        values = {(figure.configuration, figure.load): figure.value for figure in figures}
        definition = catalog.get(workload.name).figure(name, workload.options)
        sign = 1 if definition.higher_is_better else -1
        crossings: tuple[CurveCrossing, ...] = ()
        if len(values) == len(labels) * len(loads):
            logs = [[sign * np.log(values[label, load]) for label in labels] for load in loads]
            crossings = build_crossings(find_estimated_crossings(loads, logs), labels, loads)
        yield PublishedCurves(
            reference=study.reference,
            figure=definition.name,
            unit=figures[0].unit,
            levels=tuple(LoadLevel(load=load, text=f"{load:g}", workload="") for load in loads),
            values={label: tuple(values.get((label, load)) for load in loads) for label in labels},
            crossings=crossings,
        )


def build_crossings(
    estimates: Iterable[CrossingEstimate], labels: Sequence[str], loads: Sequence[float]
) -> tuple[CurveCrossing, ...]:
    """Crossings of configurations, of which they have the indices, as those of loads."""
    return tuple(
        CurveCrossing.copy_from(
            crossing,
            overtaking=labels[crossing.overtaking],
            overtaken=labels[crossing.overtaken],
            below=loads[crossing.below],
            above=loads[crossing.above],
        )
        for crossing in estimates
    )


def build_scaling(
    study: Study, rows: Sequence[MeasuredRow], ranking: Ranking | None
) -> Iterator[ScalingReport]:
    """The curves of every workload that has a load; ``ranking`` is that of the study."""
    for result in analyze_scaling(study, rows, ranking):
        first = result.requests[0]
        levels = tuple(
            LoadLevel(load=request.load.level, text=request.load.text, workload=request.label)
            for request in result.requests
            if request.load is not None
        )
        loads = [level.load for level in levels]
        sign = 1 if first.figure.higher_is_better else -1
        yield ScalingReport(
            workload=first.listed_as,
            option=first.load.option if first.load else "",
            figure=first.figure,
            levels=levels,
            curves=tuple(
                ScalingCurve(
                    configuration=choice.label,
                    points=tuple(_build_points(curve, loads, sign)),
                    rises=curve.rises,
                    knee=tuple(loads[level] for level in curve.knee),
                    pays_up_to=tuple(loads[level] for level in curve.saturates_at),
                    holds_up_to=tuple(loads[level] for level in curve.stable_up_to),
                    peak=tuple(loads[level] for level in curve.peak),
                )
                for choice, curve in zip(study.configurations(), result.curves, strict=True)
            ),
            crossings=build_crossings(
                result.crossings, [choice.label for choice in study.choices()], loads
            ),
            published=tuple(build_published_curves(study, first)),
        )


def _build_points(
    curve: CurveEstimate, loads: Sequence[float], sign: int
) -> Iterator[ScalingPoint]:
    """``sign`` is +1 where higher is better, else -1: estimates are of s ln y."""

    def extract(estimates: IntervalEstimates, place: int | tuple[int, int]) -> tuple[float, ...]:
        """Return the estimate of the figure itself, with its interval."""
        low, high = sorted(sign * float(ends[place]) for ends in (estimates.low, estimates.high))
        return sign * float(estimates.value[place]), low, high

    for level, load in enumerate(loads):
        value, *ends = extract(curve.values, level)
        step = efficiency = step_interval = efficiency_interval = None
        if level:
            gain, low, high = extract(curve.gains, (level - 1, level))
            step = finite(as_fraction(gain))
            step_interval = build_span((as_fraction(low), as_fraction(high)))
        if level and sign > 0:
            ideal = math.log(load / loads[0])
            growth, *growth_ends = (end - ideal for end in extract(curve.gains, (0, level)))
            efficiency, efficiency_interval = _exp(growth), _exp_ends(*growth_ends)
        yield ScalingPoint(
            load=load,
            value=_exp(value),
            interval=_exp_ends(*ends),
            step=step,
            step_interval=step_interval,
            efficiency=efficiency,
            efficiency_interval=efficiency_interval,
        )


def _exp(logarithm: float) -> float | None:
    """None for what is unknown, or too large to hold."""
    return finite(as_fraction(logarithm) + 1)


def _exp_ends(low: float, high: float) -> Span | None:
    first, last = _exp(low), _exp(high)
    return None if not first or last is None else Span(low=first, high=last)


def describe_crossings(scaling: ScalingReport, factor: str = "") -> tuple[str, ...]:
    """A sentence for each crossing that verdicts show."""
    shown = (crossing for crossing in scaling.crossings if crossing.interval is not None)
    said = (format_crossing(crossing, scaling.option, scaling.levels, factor) for crossing in shown)
    return tuple(f"On {scaling.workload}, {crossing}." for crossing in said)


def format_efficiency(point: ScalingPoint) -> str:
    """``61.8 [55.2, 69.1]``, in percent."""
    if point.efficiency is None:
        return UNKNOWN
    ends = point.efficiency_interval
    within = "" if ends is None else f" [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"
    return f"{100 * point.efficiency:.1f}{within}"


def format_crossing(
    crossing: CurveCrossing, option: str, levels: Sequence[LoadLevel], factor: str = ""
) -> str:
    """``HDFS overtakes Lustre between 60 and 80 jobs, at about 71 [66, 77]``."""
    over = name_configuration(crossing.overtaking, factor)
    under = name_configuration(crossing.overtaken, factor)
    about = format_crossing_load(crossing, levels)
    ends = format_levels_between(crossing, option, levels)
    return f"{over} overtakes {under} between {ends}, at about {about}"


def format_levels_between(crossing: CurveCrossing, option: str, levels: Sequence[LoadLevel]) -> str:
    """``60 and 80 jobs``, or ``event_size 512KiB and 1MiB`` where levels have units."""
    ends = format_levels((crossing.below, crossing.above), levels, "and")
    return f"{option} {ends}" if _unit(levels) else f"{ends} {option}"


def format_levels(loads: Sequence[float], levels: Sequence[LoadLevel], word: str = "or") -> str:
    """``2, 4 or 8``."""
    texts = {level.load: level.text for level in reversed(levels)}
    return join_words([texts[load] for load in loads], word)


def _unit(levels: Sequence[LoadLevel]) -> str:
    return levels[0].text.lstrip("0123456789.")


def format_crossing_load(crossing: CurveCrossing, levels: Sequence[LoadLevel]) -> str:
    """``71.2 [66.0, 77.3]``, in the kind of unit that the levels have."""
    unit, ends = _unit(levels), crossing.interval

    def form(load: float) -> str:
        if unit.endswith("B"):
            return format_rounded_size(round(load))
        is_time = unit in ("us", "ms", "s", "min", "h")
        return format_seconds(load) if is_time else format_significant(load)

    return form(crossing.load) + (f" [{form(ends.low)}, {form(ends.high)}]" if ends else "")


def build_scaling_sections(report: Report) -> Iterator[Section]:
    """One for each workload that has a load."""
    for number, scaling in enumerate(report.curves, 1):
        yield Section(
            f"curves-{number}",
            f"{scaling.workload} by {scaling.option}",
            (*describe_crossings(scaling, report.factor), *_remarks(scaling, report)),
            tables=tuple(_list_tables(scaling, report)),
            folded=(_list_steps(scaling, report), *_list_published(scaling)),
            draw=partial(build_scaling_charts, scaling, report),
        )


def _list_tables(scaling: ScalingReport, report: Report) -> Iterator[TextTable]:
    """Yield values, efficiency, saturation and crossings."""
    figure, levels = scaling.figure, scaling.levels

    def tabulate(first: int, title: str, show: Callable[[ScalingPoint], str]) -> TextTable:
        rows = (
            [(scaling.option, level.text)]
            + [(curve.configuration, show(curve.points[place])) for curve in scaling.curves]
            for place, level in enumerate(levels[first:], first)
        )
        return make_table(rows, title)

    yield tabulate(0, f"{figure.name}, {figure.unit}", lambda p: format_mean(p.value, p.interval))
    if figure.higher_is_better:
        growth = f"growth since {levels[0].text}, as a share of proportional growth, %"
        yield tabulate(1, f"scaling efficiency: {growth}", format_efficiency)
    saturation = (
        {
            report.noun: curve.configuration,
            "saturates at": format_levels(curve.pays_up_to, levels),
            "stable up to": format_levels(curve.holds_up_to, levels),
            "best at": format_levels(curve.peak, levels),
        }
        for curve in scaling.curves
    )
    yield make_table(saturation, "saturation")
    crossings = (
        {
            "ahead below": crossing.overtaken,
            "ahead above": crossing.overtaking,
            "between": format_levels_between(crossing, scaling.option, levels),
            f"{scaling.option}, about": format_crossing_load(crossing, levels),
            "shown by": "estimates" if crossing.interval is None else "verdicts",
        }
        for crossing in scaling.crossings
    )
    if scaling.crossings:
        yield make_table(crossings, "crossings", names=2)


def _list_steps(scaling: ScalingReport, report: Report) -> TextTable:
    texts = [level.text for level in scaling.levels]
    change = f"change of {scaling.figure.name}"
    steps = (
        {
            report.noun: curve.configuration,
            scaling.option: f"{low} to {high}",
            change: format_change_interval(point.step, point.step_interval),
        }
        for curve in scaling.curves
        for low, high, point in zip(texts, texts[1:], curve.points[1:], strict=False)
    )
    return make_table(steps, "change at each step of load", names=2)


def _list_published(scaling: ScalingReport) -> Iterator[TextTable]:
    """Yield the published values, and in brackets their ratios to those of the first load."""
    for curves in scaling.published:
        rows = []
        for index, level in enumerate(curves.levels):
            row = [(scaling.option, level.text)]
            for label, (first, *_) in curves.values.items():
                value = curves.values[label][index]
                text = UNKNOWN if value is None else f"{value:g}"
                if value is not None and index and first:
                    text += f" ({value / first:.2f})"
                row.append((label, text))
            rows.append(row)
        unit = "" if curves.unit == curves.figure else f", {curves.unit}"
        title = f"{curves.reference}: {curves.figure}{unit} (times the value at the first load)"
        yield make_table(rows, title)


def _remarks(scaling: ScalingReport, report: Report) -> Iterator[str]:
    """Yield estimates without tests, published crossings, and how to read the tables."""
    for crossing in scaling.crossings:
        if crossing.interval is None:
            said = format_crossing(crossing, scaling.option, scaling.levels, report.factor)
            yield f"By estimates, of which verdicts confirm one side only: {said}."
    for published in scaling.published:
        option, levels, of = scaling.option, published.levels, published.figure
        if said := "; ".join(format_crossing(c, option, levels) for c in published.crossings):
            yield f"{published.reference}, {of}, as published and without intervals: {said}."
    margin, risk = format_percent(report.method.margin), format_percent(report.method.risk)
    better = "Higher" if scaling.figure.higher_is_better else "Lower"
    yield (
        f"{better} is better for {scaling.figure.name}. Saturates at: the lowest load above which "
        f"no load is better by {margin} or more. Stable up to: the highest load below which no "
        f"load is better by {margin} or more. Several loads in one cell: it is one of these. All "
        f"statements on knees and steps hold together, with an error rate of {risk}. So do the "
        "intervals of values, unless noise is skewed or autocorrelated."
    )


def build_scaling_charts(scaling: ScalingReport, report: Report) -> Iterator[Chart]:
    """The user's own curves, and those that others have published."""
    figure, middle = scaling.figure, (len(scaling.curves) - 1) / 2
    rows: list[dict[str, Any]] = [
        {
            "configuration": curve.configuration,
            # Neighbouring configurations are slightly apart.
            "load": point.load * (1 + 0.012 * (index - middle)),
            "at": point.load,
            "value": point.value,
            "low": point.interval.low if point.interval else point.value,
            "high": point.interval.high if point.interval else point.value,
            "knee": curve.knee == (point.load,) and point.load != scaling.levels[-1].load,
        }
        for index, curve in enumerate(scaling.curves)
        for point in curve.points
        if point.value is not None
    ]
    if rows:
        title = f"{figure.name}, {figure.unit}"
        yield Chart(
            _draw_curves(scaling, scaling.option, rows, title, encode_configuration(report)),
            f"Line chart of {figure.name} by {scaling.option}, a line for each configuration; "
            "the tables below have its values.",
            "Bars: intervals, with configurations slightly offset. Ring: decided knee. Dashed "
            "line: crossing of two curves, with its interval as a band. Both axes are logarithmic.",
        )
    for published in scaling.published:
        rows = [
            {"configuration": label, "load": level.load, "at": level.load, "value": value}
            for label, values in published.values.items()
            for level, value in zip(published.levels, values, strict=True)
            if value is not None
        ]
        if not rows:
            continue
        title, name = f"{published.figure}, {published.unit}", published.reference
        codes = encode_labels(list(published.values))
        said = f"{name}, as published"
        yield Chart(
            _draw_curves(published, scaling.option, rows, title, codes, said),
            f"Line chart of {published.figure} by {scaling.option} as {name} has it, a line for "
            "each configuration; a table below has its values.",
            f"{name}'s own machine; its errors are unknown.",
        )


def _draw_curves(
    curves: ScalingReport | PublishedCurves,
    option: str,
    rows: list[dict[str, Any]],
    title: str,
    codes: tuple[Spec, Spec],
    said: str = "",
) -> Spec:
    """Draw a line for each configuration, with intervals and knees where the rows have them."""
    fields = [name for name in ("value", "low", "high") if name in rows[0]]
    tooltip = [
        field("configuration:N"),
        field("at:Q", title="load"),
        *(field(f"{name}:Q", format=".4r") for name in fields),
    ]
    loads = [level.load for level in curves.levels]
    texts = {f"{level.load:g}": level.text for level in curves.levels}
    label = f"{{{','.join(f'{k!r}:{v!r}' for k, v in texts.items())}}}[datum.value]"
    axis = {"values": loads, "labelExpr": label, "grid": False}
    domain = [loads[0] / 1.1, loads[-1] * 1.1]
    x = field("load:Q", title=option, axis=axis, scale=LOGARITHMIC | {"domain": domain})
    y = field("value:Q", title=title, axis=READABLE, scale=LOGARITHMIC | {"padding": 12})
    colour, shape = codes
    base: Spec = {"x": x, "color": colour}
    point, ring = {"y": y, "shape": shape, "tooltip": tooltip}, {"x": x, "y": y, "tooltip": tooltip}
    bars = rows if "low" in fields else []
    knees = [row for row in rows if row.get("knee")]
    look = {"shape": "circle", "stroke": INK, "strokeWidth": 1.5, "size": 320, "filled": False}
    layers = (
        *_draw_crossings(curves.crossings, x),
        layer(rows, "line", base | {"y": y}, strokeWidth=1.8),
        layer(bars, "rule", base | {"y": "low:Q", "y2": "high"}, strokeWidth=2),
        layer(rows, "point", base | point, filled=True, size=80, opacity=1),
        layer(knees, "point", ring, **look),
    )
    return make_chart(layers, height=300, title=said)


def _draw_crossings(crossings: Sequence[CurveCrossing], x: Spec) -> Iterator[Spec]:
    """A band over the interval, and a line where the curves meet."""
    rows = [
        {
            "load": crossing.load,
            "low": crossing.interval.low if crossing.interval else crossing.load,
            "high": crossing.interval.high if crossing.interval else crossing.load,
            "crossing": f"{crossing.overtaking} overtakes {crossing.overtaken}",
        }
        for crossing in crossings
    ]
    line = {"x": x, "tooltip": [field("crossing:N"), field("load:Q", format=".3s")]}
    yield layer(rows, "rect", {"x": "low:Q", "x2": "high"}, fill=INK, opacity=0.1)
    yield layer(rows, "rule", line, color=INK, strokeDash=[5, 4], opacity=0.7)
