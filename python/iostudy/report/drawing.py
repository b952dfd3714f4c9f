"""Common style, colours, legends and labels of all charts.

Text and lines are drawn in the colour of the text around them (``currentColor``), so that one
specification serves light, dark and print. Every colour has a contrast of at least 3:1 against both
the white and the dark page (WCAG 2.2, 1.4.11), with hues apart for colour-blind eyes (after Okabe &
Ito); a shape says the same again.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

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
"""Colour and shape of each verdict."""


def cycle_items(items: Sequence[T], count: int) -> list[T]:
    """``count`` of them, from the beginning again when they are used up."""
    return [items[index % len(items)] for index in range(count)]


T = TypeVar("T")
Spec = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]

if TYPE_CHECKING:
    import altair as alt
else:

    class _Altair:
        """Altair, which takes long to load, and which a terminal never needs.

        It would check each part of a chart against Vega-Lite's schema; tests check whole charts.
        """

        def __getattr__(self, name: str) -> Any:
            loaded = importlib.import_module("altair")
            importlib.import_module("altair.utils.schemapi").disable_debug_mode()
            return getattr(loaded, name)

    alt = _Altair()


def schema_version() -> str:
    """Return the Vega-Lite version that the specifications are written for: ``v6.4``."""
    return alt.SCHEMA_VERSION.rpartition(".")[0]


INK = "currentColor"
CONTAINER_WIDTH = "containerSize()[0]"
"""The width of the chart's place in the page, in expressions of Vega."""

_LABEL_PIXELS = 150
_LINE_PIXELS = 14
_LETTER_PIXELS = 7
_LEGEND_PIXELS = 560
_SYMBOL_PIXELS = 30
_APART_PIXELS = 6


def make_chart(
    layers: Iterable[alt.Chart],
    *,
    height: int,
    title: str = "",
    rows: Mapping[str, Rows] | None = None,
) -> Spec:
    """The layers as one chart, as wide as its place and ``height`` pixels high.

    ``rows`` are the data of the layers that have `alt.NamedData`, by that name. Altair never sees
    them: it would check each row against Vega-Lite's schema, which takes minutes for thousands.
    Charts are checked against it by tests, and not whenever one is made.
    """
    sized = alt.LayerChart(layer=list(layers), width="container", height=height)
    if title:
        sized = sized.properties(title=title)
    whole = sized.properties(background="transparent").configure(**_CONFIG)
    spec: Spec = whole.to_dict(validate=False)
    if rows:
        spec.setdefault("datasets", {}).update({name: list(data) for name, data in rows.items()})
    return spec


def round_value(value: float | None) -> float | None:
    """Round to six digits, more than a screen or print shows."""
    return None if value is None else float(f"{value:.6g}")


def has_many_configurations(report: Report) -> bool:
    """Whether there are more configurations than colours and shapes, as in a screening."""
    return len(report.configurations) > len(COLOURS)


def encode_configuration(report: Report, *, legend: bool = True) -> tuple[alt.Color, alt.Shape]:
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
    shapes: Sequence[str] = SHAPES,
    *,
    legend: bool = True,
    field: str = "configuration",
) -> tuple[alt.Color, alt.Shape]:
    """A colour and a shape for each of the labels, which rows have in a field."""
    shown = make_legend(labels) if legend else None
    colours, shapes = (cycle_items(items, len(labels)) for items in (colours, shapes))
    return (
        alt.Color(f"{field}:N", legend=shown).scale(domain=labels, range=colours),
        alt.Shape(f"{field}:N", legend=shown).scale(domain=labels, range=shapes),
    )


def make_legend(labels: Sequence[str]) -> alt.Legend:
    """Above the chart, in as many columns as leave room for the longest of the labels.

    They follow the container and not ``width``, which changes while room is made for the legend.
    """
    wide = _SYMBOL_PIXELS + _LETTER_PIXELS * max(map(len, labels))
    columns: Any = alt.ExprRef(
        f"{CONTAINER_WIDTH} < {2.5 * wide} ? 1 : {CONTAINER_WIDTH} < {4.5 * wide} ? 2 : 4"
    )
    return alt.Legend(orient="top", title=None, columns=columns, labelLimit=_LEGEND_PIXELS)


def make_label_axis(labels: Sequence[str]) -> alt.Axis:
    """Configurations on the axis, a level a line; Vega hangs the lines below the middle."""
    return alt.Axis(
        labelExpr="split(datum.label, ', ')",
        labelLimit=_LABEL_PIXELS,
        labelLineHeight=_LINE_PIXELS,
        labelOffset=-(_lines(labels) - 1) * _LINE_PIXELS / 2,
    )


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
