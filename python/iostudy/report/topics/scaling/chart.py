"""Chart of scaling curves over the load, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from iostudy.report.charts import palette
from iostudy.report.charts.drawing import encode_configuration, make_chart, make_legend
from iostudy.report.section import Chart
from iostudy.report.topics.scaling.values import (
    CurveCrossing,
    LoadLevel,
    PublishedCurves,
    ScalingCurve,
    ScalingReport,
)
from iostudy.report.values import Report

_HEIGHT = 300
_APART = 0.012
"""Distance of neighbouring configurations' points, as a share of the load."""


def build_scaling_charts(scaling: ScalingReport, report: Report) -> tuple[Chart, ...]:
    """The user's own curves, and those that others have published."""
    own = [_own(scaling, report)] if _rows(scaling) else []
    return (*own, *(_published(each, scaling.option) for each in scaling.published))


def _own(scaling: ScalingReport, report: Report) -> Chart:
    rows = _rows(scaling)
    colour, shape = encode_configuration(report)
    x, y = _axes(scaling.levels, scaling.option, f"{scaling.figure.name}, {scaling.figure.unit}")
    base = alt.Chart(alt.InlineData(values=rows))
    layers = [
        *_meetings(scaling.crossings, x),
        base.mark_line(strokeWidth=1.8).encode(x=x, y=y, color=colour),
        base.mark_rule(strokeWidth=2).encode(x=x, y="low:Q", y2="high:Q", color=colour),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=_TOOLTIP
        ),
    ]
    knees = [row for row in rows if row["knee"]]
    if knees:
        ring = alt.Chart(alt.InlineData(values=knees)).mark_point(**_RING)
        layers.append(ring.encode(x=x, y=y, tooltip=_TOOLTIP))
    return Chart(
        make_chart(layers, height=_HEIGHT),
        f"Line chart of {scaling.figure.name} by {scaling.option}, a line for each configuration; "
        "the tables below have its values.",
        "Bars: intervals, with configurations slightly offset. Ring: decided knee. Dashed line: "
        "crossing of two curves, with its interval as a band. Both axes are logarithmic.",
    )


def _published(published: PublishedCurves, option: str) -> Chart:
    labels = list(published.values)
    rows = [
        {"configuration": label, "load": level.load, "value": value}
        for label, values in published.values.items()
        for level, value in zip(published.levels, values, strict=True)
        if value is not None
    ]
    legend = make_legend(labels)
    colours = palette.cycle_items(palette.COLOURS, len(labels))
    shapes = palette.cycle_items(palette.SHAPES, len(labels))
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
        for row in _curve(curve, scaling, 1 + _APART * (place - middle))
    ]


def _curve(curve: ScalingCurve, scaling: ScalingReport, aside: float) -> Iterator[dict[str, Any]]:
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


_TOOLTIP = [
    alt.Tooltip("configuration:N"),
    alt.Tooltip("at:Q", title="load"),
    *(alt.Tooltip(f"{field}:Q", format=".4r") for field in ("value", "low", "high")),
]
_RING: dict[str, Any] = {
    "shape": "circle",
    "stroke": "currentColor",
    "strokeWidth": 1.5,
    "size": 320,
    "filled": False,
}
