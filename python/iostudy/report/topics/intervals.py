"""Plots of changes with their intervals: forest plot and charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span
from iostudy.report.drawing import (
    INK,
    Spec,
    alt,
    choose_verdict_mark,
    compute_row_pixels,
    make_chart,
    make_label_axis,
    make_legend,
)
from iostudy.report.formatting import format_against, name_configuration
from iostudy.report.section import Chart
from iostudy.report.topics.verdicts import (
    FigureVerdicts,
    Result,
    format_blocks,
    format_change,
    format_verdict,
    list_verdicts,
)
from iostudy.units import LARGEST_CHANGE, LARGEST_RATIO, format_percent

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport

_MOST_TICKS = 6
_SMALL = math.log(2.5)
"""Length of a logarithmic axis up to which equal steps in percent are readable."""
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
"""Steps between ticks, as fractions."""
_RATIOS = tuple(
    sorted(
        digit * 10.0**power
        for power in range(-4, 4)
        for digit in (1.0, 2.0, 5.0)
        if digit * 10.0**power <= 1000
    )
)
_LABEL = 6.0
"""Half of a label on a narrow screen, in percent of the axis."""
_PADDING = 0.07
"""Space at both ends, as a share of the axis."""


@dataclass(frozen=True)
class Tick:
    """A tick: its position in percent of the axis, and its label."""

    position: float
    label: str


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
class ForestGroup:
    """The comparisons by one figure of a workload."""

    verdicts: FigureVerdicts
    rows: tuple[ForestRow, ...]


@dataclass(frozen=True)
class ForestPlot:
    """All comparisons on one logarithmic axis, with the zone within the margin."""

    ticks: tuple[Tick, ...]
    zero: float
    zone: tuple[float, float]
    groups: tuple[ForestGroup, ...]


def build_forest_plot(report: Report) -> ForestPlot | None:
    """Return the plot of every comparison; None while no comparison has an interval."""
    verdicts = list_verdicts(report.workloads)
    results = [r for each in verdicts for r in each.results if not r.baseline]
    spans = [result.interval for result in results if result.interval is not None]
    if not spans:
        return None
    margin = report.method.margin
    axis = _Axis(*_reach(spans, margin))
    return ForestPlot(
        ticks=tuple(_labelled(axis)),
        zero=axis.place(0.0),
        zone=(axis.place(-math.log1p(margin)), axis.place(math.log1p(margin))),
        groups=tuple(
            ForestGroup(each, tuple(_row(r, axis) for r in each.results if not r.baseline))
            for each in verdicts
        ),
    )


@dataclass(frozen=True)
class _Axis:
    """An axis of log ratios from ``low`` to ``high``."""

    low: float
    high: float

    def place(self, log_ratio: float) -> float:
        """Return the position in percent, within the axis."""
        share = (log_ratio - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 2)


def _reach(spans: Sequence[Span], margin: float) -> tuple[float, float]:
    """Return both ends of the axis as log ratios: all informative intervals, twice the margin.

    An interval that contains zero and exceeds 100 % is cut, because it would compress all others.
    """
    informative = [span for span in spans if span.high <= 1 or span.low > 0]
    shown = informative or [Span(low=-0.5, high=1.0)]
    least = 2 * math.log1p(margin)
    low = min(-least, *(_log(span.low) for span in shown))
    high = max(least, *(_log(span.high) for span in shown))
    padding = _PADDING * (high - low)
    return low - padding, high + padding


def _log(change: float) -> float:
    """Return the log ratio of a change, between those of 0.0001 and 1000."""
    return math.log(min(max(1 + change, 1e-4), LARGEST_RATIO))


def _labelled(axis: _Axis) -> Iterator[Tick]:
    """Yield zero and the ticks whose labels do not extend beyond the axis."""
    for ratio, label in _ticks(axis):
        position = axis.place(math.log(ratio))
        if ratio == 1 or _LABEL <= position <= 100 - _LABEL:
            yield Tick(position, label)


def _ticks(axis: _Axis) -> Iterator[tuple[float, str]]:
    """Yield ratio and label of each tick: steps in percent on short axes, else ratios."""
    if axis.high - axis.low <= _SMALL:
        low, high = math.expm1(axis.low), math.expm1(axis.high)
        step = next(each for each in _STEPS if (high - low) / each < _MOST_TICKS)
        for number in range(math.ceil(low / step), math.floor(high / step) + 1):
            yield 1 + number * step, _percent(number * step)
        return
    within = [ratio for ratio in _RATIOS if axis.low <= math.log(ratio) <= axis.high]
    if len(within) > _MOST_TICKS:
        within = [ratio for ratio in within if math.log10(ratio).is_integer()]
    for ratio in within:
        yield ratio, f"{ratio:g} x" if ratio > 1 else _percent(ratio - 1)


def _percent(fraction: float) -> str:
    return "0" if abs(fraction) < 1e-9 else f"{100 * fraction:+.4g} %"


def _row(result: Result, axis: _Axis) -> ForestRow:
    span, change = result.interval, result.change
    if span is None or change is None:
        return ForestRow(result, None, None, None)
    low, high, point = _log(span.low), _log(span.high), _log(change)
    return ForestRow(
        result,
        low=axis.place(low),
        high=axis.place(high),
        point=axis.place(point) if axis.low <= point <= axis.high else None,
        low_cut=low < axis.low,
        high_cut=high > axis.high or span.high >= LARGEST_RATIO,
    )


_ROW_PIXELS = 34


def build_interval_chart(workload: WorkloadReport, report: Report) -> Chart | None:
    """Changes against the baseline; None while no comparison has an interval."""
    results = [result for result in workload.results if not result.baseline]
    title = [f"change of {workload.figure.name}", f"{format_against(report.baseline)}, %"]
    spec = draw_intervals(results, report.method.margin, title, report.noun)
    if spec is None:
        return None
    baseline = name_configuration(report.baseline, report.factor)
    return Chart(
        spec,
        describe_results(results),
        "Point: mean change. Bar: its interval; arrow: the interval extends beyond the axis. "
        f"Shaded: within the margin of {format_percent(report.method.margin)} of {baseline}.",
    )


def draw_intervals(
    results: Sequence[Result], margin: float, title: Sequence[str], noun: str
) -> Spec | None:
    """Draw each change with its interval, and the zone within the margin shaded.

    Every result keeps its row: what reaches beyond the axis ends in an arrow. ``noun`` is what the
    rows are. None while no result has an interval.
    """
    if not any(result.interval for result in results):
        return None
    reach = _reach_of_chart(results, margin)
    rows = [_interval_row(result, reach) for result in results]
    zone = alt.InlineData(values=[{"low": 100 * (1 / (1 + margin) - 1), "high": 100 * margin}])
    labels = [result.configuration for result in results]
    y = alt.Y("configuration:N", sort=None, title=None, axis=make_label_axis(labels))
    y = y.scale(domain=labels)
    verdicts = [verdict.value for verdict in Verdict]
    colours, shapes = zip(*map(choose_verdict_mark, Verdict), strict=True)
    legend = make_legend(verdicts)
    colour = alt.Color("verdict:N", legend=legend).scale(domain=verdicts, range=list(colours))
    shape = alt.Shape("verdict:N", legend=legend).scale(domain=verdicts, range=list(shapes))
    tooltip = [
        alt.Tooltip("configuration:N", title=noun),
        alt.Tooltip("change_text:N", title="change"),
        alt.Tooltip("verdict:N"),
        alt.Tooltip("blocks:N"),
    ]
    base = alt.Chart(alt.InlineData(values=rows))
    layers = [
        alt.Chart(zone).mark_rect(fill=INK, opacity=0.1).encode(x="low:Q", x2="high:Q"),
        alt.Chart(zone).mark_rule(color=INK, strokeWidth=1).encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=2.5).encode(
            x=alt.X("low:Q", title=list(title)).axis(tickCount=6),
            x2="high:Q",
            y=y,
            color=colour,
            tooltip=tooltip,
        ),
    ]
    # A bar is at each end of an interval, or an arrow beyond the axis.
    for end, arrow in (("low", "triangle-left"), ("high", "triangle-right")):
        for cut in (False, True):
            own = [row for row in rows if row[end] is not None and row[f"{end}_cut"] is cut]
            chart = alt.Chart(alt.InlineData(values=own))
            mark = chart.mark_tick(thickness=2.5, size=11)
            if cut:
                mark = chart.mark_point(shape=arrow, filled=True, size=110, opacity=1)
            if own:
                layers.append(mark.encode(x=f"{end}:Q", y=y, color=colour, tooltip=tooltip))
    points = base.mark_point(filled=True, size=130, opacity=1)
    layers.append(points.encode(x="change:Q", y=y, color=colour, shape=shape, tooltip=tooltip))
    return make_chart(layers, height=compute_row_pixels(labels, _ROW_PIXELS) * len(rows))


def _interval_row(result: Result, reach: float) -> dict[str, Any]:
    """Return the row in percent, limited to ``reach``; None for absent values."""
    span, change = result.interval, result.change
    low, high = (None, None) if span is None else (span.low, span.high)
    return {
        "configuration": result.configuration,
        "change": None if change is None or abs(change) > reach else 100 * change,
        "low": None if low is None else 100 * min(reach, max(-reach, low)),
        "high": None if high is None else 100 * min(reach, max(-reach, high)),
        "low_cut": low is not None and low < -reach,
        "high_cut": high is not None and high > reach,
        "verdict": None if result.verdict is None else result.verdict.value,
        "change_text": format_change(result),
        "blocks": format_blocks(result),
    }


def describe_results(results: Sequence[Result]) -> str:
    """The results in words, for those who cannot see the chart."""
    texts = (f"{r.configuration} {format_change(r)}, {format_verdict(r)}" for r in results)
    return "; ".join(texts)


def _reach_of_chart(results: Sequence[Result], margin: float) -> float:
    """Return the range of the axis to either side, as a fraction.

    An interval that contains zero and exceeds 100 % is ignored, because it would compress all
    others.
    """
    spans = [result.interval for result in results if result.interval is not None]
    telling = [s for s in spans if s.high <= 1 or (s.low > 0 and s.high < LARGEST_CHANGE)]
    ends = [abs(end) for span in telling for end in (span.low, span.high)]
    return max((2 * margin, *ends)) if telling else 1.0
