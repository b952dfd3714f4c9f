"""Common style, colours, legends and labels of all charts.

Text and lines are drawn in the colour of the text around them (``currentColor``), so that one
specification serves light, dark and print. Every colour has a contrast of at least 3:1 against both
the white and the dark page (WCAG 2.2, 1.4.11), with hues apart for colour-blind eyes (after Okabe &
Ito); a shape says the same again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from iostudy.analysis.verdict import Verdict

if TYPE_CHECKING:
    from iostudy.report.values import Report

GREEN = "#0f9570"
RED = "#d2521f"
BLUE = "#2f7fc1"
GREY = "#7d8590"

COLOURS = (BLUE, RED, GREEN, "#b363a6", "#a3761c", "#2395ad", "#8c6bc8", GREY)
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "triangle-right",
    "triangle-left",
    "cross",
)

GLYPHS = dict(zip(SHAPES, "●■▲◆▼▶◀✚", strict=True))
"""Characters that look like the shapes, for legends in text."""


VERDICT_MARKS = {
    Verdict.BETTER: (GREEN, "triangle-up"),
    Verdict.WORSE: (RED, "triangle-down"),
    Verdict.EQUIVALENT: (BLUE, "circle"),
    Verdict.NOT_WORSE: (BLUE, "triangle-right"),
    Verdict.NOT_BETTER: (BLUE, "triangle-left"),
    Verdict.INCONCLUSIVE: (GREY, "diamond"),
}
"""Colour and shape of each verdict, in the order of legends and sentences."""

Spec = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]

VEGA_LITE = "v6.4"
"""Version of Vega-Lite that the specifications are written for."""
_SCHEMA = f"https://vega.github.io/schema/vega-lite/{VEGA_LITE}.json"
_TYPES = {"Q": "quantitative", "N": "nominal"}

INK = "currentColor"
CONTAINER_WIDTH = "containerSize()[0]"
"""The width of the chart's place in the page, in expressions of Vega."""

_LABEL_PIXELS = 150
_LINE_PIXELS = 14
_LETTER_PIXELS = 7
_LEGEND_PIXELS = 560
_SYMBOL_PIXELS = 30
_APART_PIXELS = 6


def field(shorthand: str, **options: Any) -> Spec:
    """Return a channel by the name of a field: ``value:Q``, ``name:N``, or ``high`` of ``x2``."""
    name, _, letter = shorthand.partition(":")
    return {"field": name, **({"type": _TYPES[letter]} if letter else {}), **options}


def layer(rows: Rows, mark: str, encoding: Mapping[str, Any], **look: Any) -> Spec:
    """Return a mark for each row; the channels of ``encoding`` may be shorthands of fields."""
    channels = {
        name: field(channel) if isinstance(channel, str) else channel
        for name, channel in encoding.items()
    }
    return {"data": {"values": rows}, "mark": {"type": mark, **look}, "encoding": channels}


def make_chart(layers: Iterable[Spec], *, height: int, title: str | list[str] = "") -> Spec:
    """The layers with rows as one chart, as wide as its place and ``height`` pixels high.

    Layers share rows that are the same. Tests check charts against Vega-Lite's schema.
    """
    tables: list[Rows] = []
    drawn = []
    for part in layers:
        if rows := part["data"]["values"]:
            if rows not in tables:
                tables.append(rows)
            drawn.append({**part, "data": {"name": f"rows-{tables.index(rows)}"}})
    return {
        "$schema": _SCHEMA,
        **({"title": title} if title else {}),
        "width": "container",
        "height": height,
        "background": "transparent",
        "config": _CONFIG,
        "layer": drawn,
        "datasets": {f"rows-{number}": rows for number, rows in enumerate(tables)},
    }


def has_many_configurations(report: Report) -> bool:
    """Whether there are more configurations than colours and shapes, as in a screening."""
    return len(report.configurations) > len(COLOURS)


def encode_configuration(report: Report, *, legend: bool = True) -> tuple[Spec, Spec]:
    """A colour and a shape for each configuration, the same in all charts of a report.

    More configurations than colours share one colour, without a legend.
    """
    labels = [configuration.label for configuration in report.configurations]
    if has_many_configurations(report):
        return encode_labels(labels, (BLUE,), ("circle",), legend=False)
    return encode_labels(labels, legend=legend)


def encode_labels(
    labels: Sequence[str],
    colours: Sequence[str] = COLOURS,
    shapes: Sequence[object] = SHAPES,
    *,
    legend: bool = True,
    name: str = "configuration",
) -> tuple[Spec, Spec]:
    """A colour and a shape, or dashes, for each of the labels, which rows have by that name.

    The legend is above the chart, in as many columns as leave room for the longest of the labels.
    """
    wide = _SYMBOL_PIXELS + _LETTER_PIXELS * max(map(len, labels))
    # By the container and not by ``width``, which changes while room is made for the legend.
    count = f"{CONTAINER_WIDTH} < {2.5 * wide} ? 1 : {CONTAINER_WIDTH} < {4.5 * wide} ? 2 : 4"
    columns = {"expr": count}
    shown = {"orient": "top", "title": None, "columns": columns, "labelLimit": _LEGEND_PIXELS}
    colour, shape = (
        field(
            f"{name}:N",
            legend=shown if legend else None,
            scale={"domain": labels, "range": list(islice(cycle(items), len(labels)))},
        )
        for items in (colours, shapes)
    )
    return colour, shape


LOGARITHMIC = {"type": "log", "nice": False}
READABLE = {"format": ",.3~r", "tickCount": 6}
"""An axis of a value with three digits."""


def make_label_axis(labels: Sequence[str]) -> Spec:
    """Configurations on the axis, a level a line; Vega hangs the lines below the middle."""
    return {
        "labelExpr": "split(datum.label, ', ')",
        "labelLimit": _LABEL_PIXELS,
        "labelLineHeight": _LINE_PIXELS,
        "labelOffset": -(_lines(labels) - 1) * _LINE_PIXELS / 2,
    }


def compute_row_pixels(labels: Sequence[str], least: int) -> int:
    """The height of a row that holds any of the labels."""
    return max(least, _LINE_PIXELS * _lines(labels) + 8)


def _lines(labels: Sequence[str]) -> int:
    return max(label.count(", ") + 1 for label in labels)


_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
_CONFIG: dict[str, Any] = {
    "font": _FONT,
    "axis": {
        "labelSeparation": _APART_PIXELS,
        "labelColor": INK,
        "titleColor": INK,
        "tickColor": INK,
        "domainColor": INK,
        "gridColor": INK,
        "gridOpacity": 0.12,
        "tickOpacity": 0.4,
        "domainOpacity": 0.4,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "legend": {
        "labelColor": INK,
        "labelFontSize": 12,
        "symbolSize": 90,
        "symbolOpacity": 1,
        "rowPadding": 4,
    },
    "title": {"color": INK, "fontSize": 12, "fontWeight": "bold", "anchor": "start", "offset": 6},
    "view": {"stroke": None},
}
