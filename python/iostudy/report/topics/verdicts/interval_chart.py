"""Charts of changes with their intervals, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from iostudy.analysis.verdict import Verdict
from iostudy.report.charts import palette
from iostudy.report.charts.drawing import (
    Spec,
    compute_row_pixels,
    make_chart,
    make_label_axis,
    make_legend,
)
from iostudy.report.formatting import format_against
from iostudy.report.section import Chart
from iostudy.report.topics.verdicts.names import name_configuration
from iostudy.report.topics.verdicts.text import format_blocks, format_change, format_verdict
from iostudy.report.topics.verdicts.values import Result
from iostudy.report.values import Report, WorkloadReport
from iostudy.results.change_text import LARGEST_CHANGE
from iostudy.units import format_percent

_ROW_PIXELS = 34


def build_interval_chart(workload: WorkloadReport, report: Report) -> Chart | None:
    """Changes against the baseline; None while no comparison has an interval."""
    texts = [result for result in workload.results if not result.baseline]
    title = [f"change of {workload.figure.name}", f"{format_against(report.baseline)}, %"]
    spec = draw_intervals(texts, report.method.margin, title, report.noun)
    if spec is None:
        return None
    return Chart(spec, describe_results(texts), _explain_intervals(report))


def draw_intervals(
    results: Sequence[Result], margin: float, title: Sequence[str], noun: str
) -> Spec | None:
    """Draw each change with its interval, and the zone within the margin shaded.

    Every result keeps its row: what reaches beyond the axis ends in an arrow. ``noun`` is what the
    rows are. None while no result has an interval.
    """
    if not any(result.interval for result in results):
        return None
    reach = _reach(results, margin)
    rows = [_interval_row(result, reach) for result in results]
    zone = alt.InlineData(values=[{"low": 100 * (1 / (1 + margin) - 1), "high": 100 * margin}])
    labels = [result.configuration for result in results]
    y = alt.Y("configuration:N", sort=None, title=None, axis=make_label_axis(labels))
    y = y.scale(domain=labels)
    tooltip = _list_tooltips(noun)
    base = alt.Chart(alt.InlineData(values=rows))
    layers = (
        alt.Chart(zone).mark_rect(fill="currentColor", opacity=0.1).encode(x="low:Q", x2="high:Q"),
        alt.Chart(zone).mark_rule(color="currentColor", strokeWidth=1).encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=2.5).encode(
            x=alt.X("low:Q", title=list(title)).axis(tickCount=6),
            x2="high:Q",
            y=y,
            color=_verdict_colour(),
            tooltip=tooltip,
        ),
        *_ends(rows, y, tooltip),
        base.mark_point(filled=True, size=130, opacity=1).encode(
            x="change:Q",
            y=y,
            color=_verdict_colour(),
            shape=_verdict_shape(),
            tooltip=tooltip,
        ),
    )
    return make_chart(layers, height=compute_row_pixels(labels, _ROW_PIXELS) * len(rows))


def describe_results(results: Sequence[Result]) -> str:
    """The results in words, for those who cannot see the chart."""
    texts = (f"{r.configuration} {format_change(r)}, {format_verdict(r)}" for r in results)
    return "; ".join(texts)


def _explain_intervals(report: Report) -> str:
    baseline = name_configuration(report.baseline, report.factor)
    margin = f"{format_percent(report.method.margin)} of {baseline}"
    return (
        "Point: mean change. Bar: its interval; arrow: the interval extends beyond the axis. "
        f"Shaded: within the margin of {margin}."
    )


def _ends(
    rows: Sequence[dict[str, Any]], y: alt.Y, tooltip: list[alt.Tooltip]
) -> Iterator[alt.Chart]:
    """Return a bar at each end of an interval, or an arrow beyond the axis."""
    for end, arrow in (("low", "triangle-left"), ("high", "triangle-right")):
        for cut in (False, True):
            own = [row for row in rows if row[end] is not None and row[f"{end}_cut"] is cut]
            chart = alt.Chart(alt.InlineData(values=own))
            mark = (
                chart.mark_point(shape=arrow, filled=True, size=110, opacity=1)
                if cut
                else chart.mark_tick(thickness=2.5, size=11)
            )
            if own:
                yield mark.encode(x=f"{end}:Q", y=y, color=_verdict_colour(), tooltip=tooltip)


def _reach(results: Sequence[Result], margin: float) -> float:
    """Return the range of the axis to either side, as a fraction.

    An interval that contains zero and exceeds 100 % is ignored, because it would compress all
    others.
    """
    spans = [result.interval for result in results if result.interval is not None]
    telling = [s for s in spans if s.high <= 1 or (s.low > 0 and s.high < LARGEST_CHANGE)]
    ends = [abs(end) for span in telling for end in (span.low, span.high)]
    return max((2 * margin, *ends)) if telling else 1.0


def _interval_row(result: Result, reach: float) -> dict[str, Any]:
    """Return the row in percent, limited to ``reach``; None for absent values."""
    span, change = result.interval, result.change
    low, high = (None, None) if span is None else (span.low, span.high)
    return {
        "configuration": result.configuration,
        "change": None if change is None or abs(change) > reach else 100 * change,
        "low": _within(low, reach),
        "high": _within(high, reach),
        "low_cut": low is not None and low < -reach,
        "high_cut": high is not None and high > reach,
        "verdict": None if result.verdict is None else result.verdict.value,
        "change_text": format_change(result),
        "blocks": format_blocks(result),
    }


def _within(end: float | None, reach: float) -> float | None:
    return None if end is None else 100 * min(reach, max(-reach, end))


def _verdict_colour() -> alt.Color:
    colours = [palette.choose_verdict_mark(verdict)[0] for verdict in Verdict]
    return alt.Color("verdict:N", legend=make_legend(_VERDICTS)).scale(
        domain=_VERDICTS, range=colours
    )


def _verdict_shape() -> alt.Shape:
    shapes = [palette.choose_verdict_mark(verdict)[1] for verdict in Verdict]
    return alt.Shape("verdict:N", legend=make_legend(_VERDICTS)).scale(
        domain=_VERDICTS, range=shapes
    )


def _list_tooltips(noun: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("configuration:N", title=noun),
        alt.Tooltip("change_text:N", title="change"),
        alt.Tooltip("verdict:N"),
        alt.Tooltip("blocks:N"),
    ]


_VERDICTS = [verdict.value for verdict in Verdict]
