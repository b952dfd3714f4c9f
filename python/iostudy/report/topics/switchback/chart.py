"""Charts of the rate after a switch, and of the confirmation by whole trials."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from iostudy.report.base import Span
from iostudy.report.charts import palette
from iostudy.report.charts.drawing import encode_configuration, make_chart, make_legend
from iostudy.report.section import Chart
from iostudy.report.topics.switchback.values import SwitchbackReport
from iostudy.report.values import Report

_HEIGHT = 220
_ROW_HEIGHT = 44
_MEASURED = ["windows", "whole trials"]
"""The measurements that the chart compares."""
_MAX_POINTS = 60
"""Most points of a line; neighbours are averaged."""


def build_response_chart(own: SwitchbackReport, report: Report) -> Chart:
    """The response curves of one workload with the chosen washouts."""
    colour, _ = encode_configuration(report)
    x = alt.X("seconds:Q", title="seconds after the switch")
    y = alt.Y("change:Q", title="rate, % of its end", axis=alt.Axis(format="+.0f"))
    base = alt.Chart(alt.InlineData(values=_rows(own))).encode(x=x, color=colour)
    washouts = [
        {"configuration": each.configuration, "washout": each.washout_seconds}
        for each in own.responses
    ]
    rule = alt.Chart(alt.InlineData(values=washouts)).mark_rule(strokeDash=[4, 3])
    layers = [
        base.mark_area(opacity=0.15).encode(y="low:Q", y2="high:Q"),
        base.mark_line(strokeWidth=1.8).encode(y=y),
        rule.encode(x="washout:Q", color=colour),
    ]
    title = own.workload if len(report.switchback) > 1 else ""
    return Chart(
        make_chart(layers, height=_HEIGHT, title=title),
        f"Line chart of the rate of {own.workload} after a switch, a line for each configuration; "
        "the table below has the washouts.",
        "Response to a switch. Line: mean of the pilot's curves, relative to the last third. "
        "Band: 90 % interval. Dashed: washout, after which windows begin.",
    )


def build_confirmation_chart(report: Report) -> Chart:
    """The change of every confirmed comparison in windows and in whole trials."""
    rows = [
        {
            "comparison": f"{each.configuration} on {own.workload}",
            "measured": measured,
            "change": _percent(change),
            "low": _percent(span.low),
            "high": _percent(span.high),
        }
        for own in report.switchback
        for each in own.confirmations
        for measured, change, span in (
            (_MEASURED[0], each.windows_change, each.windows_interval),
            (_MEASURED[1], each.change, each.interval),
        )
        if span is not None
    ]
    margin = 100 * report.method.margin
    band = [{"low": -margin, "high": margin}]
    colour = alt.Color("measured:N", legend=make_legend(_MEASURED)).scale(
        domain=_MEASURED, range=[palette.BLUE, palette.RED]
    )
    y = alt.Y("comparison:N", title="", sort=None)
    offset = alt.YOffset("measured:N", sort=_MEASURED)
    x = alt.X("low:Q", title="change against the baseline, %", axis=alt.Axis(format="+.0f"))
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y, yOffset=offset, color=colour)
    layers = [
        alt.Chart(alt.InlineData(values=band)).mark_rect(opacity=0.1).encode(x=x, x2="high:Q"),
        base.mark_rule(strokeWidth=1.8).encode(x=x, x2="high:Q"),
        base.mark_point(filled=True, size=45, opacity=1).encode(x=alt.X("change:Q")),
    ]
    height = _ROW_HEIGHT * len({row["comparison"] for row in rows})
    return Chart(
        make_chart(layers, height=height, title="Confirmation by whole trials"),
        "Chart of the change of each confirmed comparison in windows and in whole trials; the "
        "table below has the figures.",
        "Point: change. Line: interval, of windows that of the verdict, of whole trials at 95 %. "
        "Band: the margin.",
    )


def _rows(own: SwitchbackReport) -> list[dict[str, Any]]:
    rows = []
    for each in own.responses:
        step = max(1, math.ceil(len(each.curve) / _MAX_POINTS))
        for start in range(0, len(each.curve), step):
            points = each.curve[start : start + step]
            rows.append(
                {
                    "configuration": each.configuration,
                    "seconds": sum(point.seconds for point in points) / len(points),
                    "change": _percent(math.expm1(sum(p.log_ratio for p in points) / len(points))),
                    **_band([point.interval for point in points]),
                }
            )
    return rows


def _band(intervals: list[Span]) -> dict[str, float]:
    """Return the mean ends: a wider band than that of the averaged points."""
    low = sum(each.low for each in intervals) / len(intervals)
    high = sum(each.high for each in intervals) / len(intervals)
    return {"low": _percent(math.expm1(low)), "high": _percent(math.expm1(high))}


def _percent(change: float) -> float:
    """Return a change, a fraction, in percent."""
    return float(f"{100 * change:.4g}")
