"""Plots of changes with their intervals: forest plot and charts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iostudy.report.base import Span
from iostudy.report.drawing import (
    INK,
    VERDICT_MARKS,
    Spec,
    compute_row_pixels,
    encode_labels,
    field,
    layer,
    make_chart,
    make_label_axis,
)
from iostudy.report.formatting import format_against, name_configuration
from iostudy.report.section import Chart
from iostudy.report.topics.verdicts import Result, format_blocks, format_change, format_verdict
from iostudy.units import LARGEST_RATIO, format_percent

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport

_MOST_TICKS = 6
_SMALL = math.log(2.5)
"""Length of a logarithmic axis up to which equal steps in percent are readable."""
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
"""Steps between ticks, as fractions."""
_RATIOS = (*(digit * 10.0**power for power in range(-4, 3) for digit in (1, 2, 5)), 1000.0)
_LABEL = 6.0
"""Half of a label on a narrow screen, in percent of the axis."""
_PADDING = 0.07
"""Space at both ends, as a share of the axis."""


@dataclass(frozen=True)
class ForestRow:
    """One comparison; positions are in percent of the axis, None without an interval.

    ``low_cut`` and ``high_cut`` mark an interval that extends beyond the axis.
    """

    result: Result
    low: float | None
    high: float | None
    point: float | None
    low_cut: bool = False
    high_cut: bool = False


@dataclass(frozen=True)
class ChangeAxis:
    """A logarithmic axis of ratios, from ``low`` to ``high`` as log-ratios, and its margin."""

    low: float
    high: float
    margin: float

    def place(self, log_ratio: float) -> float:
        """Return the position in percent, within the axis."""
        share = (log_ratio - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 2)

    @property
    def zone(self) -> tuple[float, float]:
        """The ends of the zone within the margin."""
        return self.place(-math.log1p(self.margin)), self.place(math.log1p(self.margin))

    def list_ticks(self) -> Iterator[tuple[float, str]]:
        """Yield position and label of zero, and of ticks with labels that fit within the axis.

        They are steps in percent on short axes, else ratios.
        """
        if self.high - self.low <= _SMALL:
            low, high = math.expm1(self.low), math.expm1(self.high)
            step = next(length for length in _STEPS if (high - low) / length < _MOST_TICKS)
            numbers = range(math.ceil(low / step), math.floor(high / step) + 1)
            ticks = [(1 + number * step, _percent(number * step)) for number in numbers]
        else:
            within = [ratio for ratio in _RATIOS if self.low <= math.log(ratio) <= self.high]
            if len(within) > _MOST_TICKS:
                within = [ratio for ratio in within if math.log10(ratio).is_integer()]
            ticks = [(r, f"{r:g} x" if r > 1 else _percent(r - 1)) for r in within]
        for ratio, label in ticks:
            position = self.place(math.log(ratio))
            if ratio == 1 or _LABEL <= position <= 100 - _LABEL:
                yield position, label

    def build_row(self, result: Result) -> ForestRow:
        """Return the comparison with its positions on the axis."""
        span, change = result.interval, result.change
        if span is None or change is None:
            return ForestRow(result, None, None, None)
        low, high, point = _log(span.low), _log(span.high), _log(change)
        return ForestRow(
            result,
            low=self.place(low),
            high=self.place(high),
            point=self.place(point) if self.low <= point <= self.high else None,
            low_cut=low < self.low,
            high_cut=high > self.high or span.high >= LARGEST_RATIO,
        )


def build_axis(results: Sequence[Result], margin: float) -> ChangeAxis | None:
    """Return an axis of all informative intervals and twice the margin; None without intervals.

    An interval that contains zero and exceeds 100 % is cut, because it would compress all others.
    """
    spans = [result.interval for result in results if result.interval is not None]
    if not spans:
        return None
    informative = [span for span in spans if span.high <= 1 or span.low > 0]
    shown = informative or [Span(low=-0.5, high=1.0)]
    least = 2 * math.log1p(margin)
    low = min(-least, *(_log(span.low) for span in shown))
    high = max(least, *(_log(span.high) for span in shown))
    padding = _PADDING * (high - low)
    return ChangeAxis(low - padding, high + padding, margin)


def _log(change: float) -> float:
    """Return the log ratio of a change, between those of 0.0001 and 1000."""
    return math.log(min(max(1 + change, 1e-4), LARGEST_RATIO))


def _percent(fraction: float) -> str:
    return "0" if abs(fraction) < 1e-9 else f"{100 * fraction:+.4g} %"


_ROW_PIXELS = 34


def build_interval_chart(workload: WorkloadReport, report: Report) -> Chart | None:
    """Changes against the baseline; None while no comparison has an interval."""
    results = [result for result in workload.results if not result.baseline]
    title = [f"change of {workload.figure.name}", format_against(report.baseline)]
    spec = draw_intervals(results, report.method.margin, title, report.noun)
    if spec is None:
        return None
    baseline = name_configuration(report.baseline, report.factor)
    return Chart(
        spec,
        describe_results(results),
        "Point: change. Bar: its interval; arrow: the interval extends beyond the axis. "
        f"Shaded: within the margin of {format_percent(report.method.margin)} of {baseline}.",
    )


def draw_intervals(
    results: Sequence[Result], margin: float, title: Sequence[str], noun: str
) -> Spec | None:
    """Draw each change with its interval, and the zone within the margin shaded.

    Every result keeps its row: what reaches beyond the axis ends in an arrow. ``noun`` is what the
    rows are. None while no result has an interval.
    """
    axis = build_axis(results, margin)
    if axis is None:
        return None
    rows = [
        {
            "configuration": row.result.configuration,
            "change": row.point,
            "low": row.low,
            "high": row.high,
            "low_cut": row.low_cut,
            "high_cut": row.high_cut,
            "verdict": row.result.verdict and row.result.verdict.value,
            "change_text": format_change(row.result),
            "blocks": format_blocks(row.result),
        }
        for row in map(axis.build_row, results)
    ]
    ticks = {f"{position:g}": label for position, label in axis.list_ticks()}
    zone = [dict(zip(("low", "high"), axis.zone, strict=True))]
    labels = [result.configuration for result in results]
    names, rows_scale = make_label_axis(labels), {"domain": labels}
    y = field("configuration:N", sort=None, title=None, axis=names, scale=rows_scale)
    marks = {"values": list(map(float, ticks)), "labelExpr": f"{json.dumps(ticks)}[datum.value]"}
    x = field("low:Q", title=title, axis=marks, scale={"domain": [0, 100], "nice": False})
    verdicts = [verdict.value for verdict in VERDICT_MARKS]
    colours, shapes = zip(*VERDICT_MARKS.values(), strict=True)
    colour, shape = encode_labels(verdicts, colours, shapes, name="verdict")
    tooltip = [
        field("configuration:N", title=noun),
        field("change_text:N", title="change"),
        field("verdict:N"),
        field("blocks:N"),
    ]
    base: Spec = {"y": y, "color": colour, "tooltip": tooltip}
    zero = {"x": {"datum": axis.place(0.0)}}
    layers = [
        layer(zone, "rect", {"x": "low:Q", "x2": "high"}, fill=INK, opacity=0.1),
        layer(zone, "rule", zero, color=INK, strokeWidth=1),
        layer(rows, "rule", base | {"x": x, "x2": "high"}, strokeWidth=2.5),
    ]
    # A bar is at each end of an interval, or an arrow beyond the axis.
    for end, arrow in (("low", "triangle-left"), ("high", "triangle-right")):
        whole, cut = (
            [row for row in rows if row[end] is not None and row[f"{end}_cut"] is is_cut]
            for is_cut in (False, True)
        )
        ending = base | {"x": f"{end}:Q"}
        layers += [
            layer(whole, "tick", ending, thickness=2.5, size=11),
            layer(cut, "point", ending, shape=arrow, filled=True, size=110, opacity=1),
        ]
    change = base | {"x": "change:Q", "shape": shape}
    layers.append(layer(rows, "point", change, filled=True, size=130, opacity=1))
    return make_chart(layers, height=compute_row_pixels(labels, _ROW_PIXELS) * len(rows))


def describe_results(results: Sequence[Result]) -> str:
    """The results in words, for those who cannot see the chart."""
    texts = (f"{r.configuration} {format_change(r)}, {format_verdict(r)}" for r in results)
    return "; ".join(texts)
