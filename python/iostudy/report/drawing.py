"""What all charts have in common: their look, legends and labels.

Text and lines are drawn in the colour of the text around them (``currentColor``), so that one
specification serves light, dark and print.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from iostudy.report import palette
from iostudy.report.values import Report

Spec = dict[str, Any]

SCHEMA_VERSION = alt.SCHEMA_VERSION.rpartition(".")[0]
"""The Vega-Lite version that the specifications are written for: ``v6.4``."""

_LABEL_PIXELS = 150
_LINE_PIXELS = 14
_LETTER_PIXELS = 7
_LEGEND_PIXELS = 300
_SYMBOL_PIXELS = 30


def make(layers: Iterable[alt.Chart], *, height: int, title: str = "") -> Spec:
    """The layers as one chart, as wide as its place and ``height`` pixels high."""
    sized = alt.LayerChart(layer=list(layers), width="container", height=height)
    if title:
        sized = sized.properties(title=title)
    spec: Spec = sized.properties(background="transparent").configure(**_CONFIG).to_dict()
    return spec


def by_configuration(report: Report, *, legend: bool = True) -> tuple[alt.Color, alt.Shape]:
    """A colour and a shape for each configuration, the same in all charts of a report."""
    labels = [configuration.label for configuration in report.configurations]
    shown = legend_of(labels) if legend else None
    colours = palette.in_turn(palette.COLOURS, len(labels))
    shapes = palette.in_turn(palette.SHAPES, len(labels))
    return (
        alt.Color("configuration:N", legend=shown).scale(domain=labels, range=colours),
        alt.Shape("configuration:N", legend=shown).scale(domain=labels, range=shapes),
    )


def legend_of(labels: Sequence[str]) -> alt.Legend:
    """Above the chart, in as many columns as leave room for the longest of the labels.

    They follow the container and not ``width``, which changes while room is made for the legend.
    """
    wide = _SYMBOL_PIXELS + _LETTER_PIXELS * max(map(len, labels))
    room = "containerSize()[0]"
    columns: Any = alt.ExprRef(f"{room} < {2.5 * wide} ? 1 : {room} < {4.5 * wide} ? 2 : 4")
    return alt.Legend(orient="top", title=None, columns=columns, labelLimit=_LEGEND_PIXELS)


def label_axis(labels: Sequence[str]) -> alt.Axis:
    """Configurations on the axis, a level a line; Vega hangs the lines below the middle."""
    return alt.Axis(
        labelExpr="split(datum.label, ', ')",
        labelLimit=_LABEL_PIXELS,
        labelLineHeight=_LINE_PIXELS,
        labelOffset=-(_lines(labels) - 1) * _LINE_PIXELS / 2,
    )


def row_pixels(labels: Sequence[str], least: int) -> int:
    """The height of a row that holds any of the labels."""
    return max(least, _LINE_PIXELS * _lines(labels) + 8)


def _lines(labels: Sequence[str]) -> int:
    return max(label.count(", ") + 1 for label in labels)


_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
_INK = "currentColor"
_CONFIG: dict[str, Any] = {
    "font": _FONT,
    "axis": {
        "labelColor": _INK,
        "titleColor": _INK,
        "tickColor": _INK,
        "domainColor": _INK,
        "gridColor": _INK,
        "gridOpacity": 0.12,
        "tickOpacity": 0.4,
        "domainOpacity": 0.4,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "legend": {
        "labelColor": _INK,
        "labelFontSize": 12,
        "symbolSize": 90,
        "symbolOpacity": 1,
        "rowPadding": 4,
    },
    "title": {"color": _INK, "fontSize": 12, "fontWeight": "bold", "anchor": "start", "offset": 6},
    "view": {"stroke": None},
}
