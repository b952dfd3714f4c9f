"""Scaling curves drawn: a line for each configuration over the load, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from iostudy.report import palette
from iostudy.report.drawing import by_configuration, legend_of, make
from iostudy.report.section import Drawn
from iostudy.report.values.curves import (
    CurvesTold,
    CurveTold,
    LevelTold,
    MeetingTold,
    PublishedCurvesTold,
)
from iostudy.report.values.report import Report

_HEIGHT = 300
_APART = 0.012
"""How far the points of neighbouring configurations stand apart, as a share of the load."""


def drawn(told: CurvesTold, report: Report) -> tuple[Drawn, ...]:
    """The user's own curves, and those that others have published."""
    own = [_own(told, report)] if _rows(told) else []
    return (*own, *(_published(each, told.option) for each in told.published))


def _own(told: CurvesTold, report: Report) -> Drawn:
    rows = _rows(told)
    colour, shape = by_configuration(report)
    x, y = _axes(told.levels, told.option, f"{told.figure.name}, {told.figure.unit}")
    base = alt.Chart(alt.InlineData(values=rows))
    layers = [
        *_meetings(told.crossings, x),
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
    return Drawn(
        make(layers, height=_HEIGHT),
        f"Line chart of {told.figure.name} by {told.option}, a line for each configuration; the "
        "tables below have its values.",
        "Bars are intervals; configurations stand a little apart. A ring is a decided knee. "
        "A dashed line is where two curves cross, in the band that is its interval. Both axes are "
        "logarithmic.",
    )


def _published(told: PublishedCurvesTold, option: str) -> Drawn:
    labels = list(told.values)
    rows = [
        {"configuration": label, "load": level.load, "value": value}
        for label, values in told.values.items()
        for level, value in zip(told.levels, values, strict=True)
        if value is not None
    ]
    legend = legend_of(labels)
    colours = palette.in_turn(palette.COLOURS, len(labels))
    shapes = palette.in_turn(palette.SHAPES, len(labels))
    colour = alt.Color("configuration:N", legend=legend).scale(domain=labels, range=colours)
    shape = alt.Shape("configuration:N", legend=legend).scale(domain=labels, range=shapes)
    x, y = _axes(told.levels, option, f"{told.figure}, {told.unit}")
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, color=colour)
    layers = (
        *_meetings(told.crossings, x),
        base.mark_line(strokeWidth=1.8),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            shape=shape, tooltip=["configuration:N", "load:Q", "value:Q"]
        ),
    )
    return Drawn(
        make(layers, height=_HEIGHT, title=f"{told.reference}, as published"),
        f"Line chart of {told.figure} by {option} as {told.reference} has it, a line for each "
        "configuration; a table below has its values.",
        f"{told.reference}'s own machine; nothing is known of its errors.",
    )


def _rows(told: CurvesTold) -> list[dict[str, Any]]:
    middle = (len(told.curves) - 1) / 2
    return [
        row
        for place, curve in enumerate(told.curves)
        for row in _curve(curve, told, 1 + _APART * (place - middle))
    ]


def _curve(curve: CurveTold, told: CurvesTold, aside: float) -> Iterator[dict[str, Any]]:
    highest = told.levels[-1].load
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


def _axes(levels: Sequence[LevelTold], option: str, title: str) -> tuple[alt.X, alt.Y]:
    loads = [level.load for level in levels]
    texts = {f"{level.load:g}": level.text for level in levels}
    label = f"{{{','.join(f'{k!r}:{v!r}' for k, v in texts.items())}}}[datum.value]"
    axis = alt.Axis(values=loads, labelExpr=label, grid=False)
    x = alt.X("load:Q", title=option, axis=axis)
    ends = [loads[0] / 1.1, loads[-1] * 1.1]
    x = x.scale(type="log", nice=False, domain=ends)
    y = alt.Y("value:Q", title=title, axis=alt.Axis(format=",.3~r", tickCount=6))
    return x, y.scale(type="log", nice=False, padding=12)


def _meetings(crossings: Sequence[MeetingTold], x: alt.X) -> Iterator[alt.Chart]:
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
