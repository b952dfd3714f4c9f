"""Chart of the rate after a switch to each configuration."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from iostudy.report.base import Span
from iostudy.report.render.charts.drawing import encode_configuration, make_chart
from iostudy.report.section import Chart
from iostudy.report.topics.switchback.values import SwitchbackReport
from iostudy.report.values import Report

_HEIGHT = 220
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
    title = f"{own.workload}: response to a switch" if len(report.switchback) > 1 else ""
    return Chart(
        make_chart(layers, height=_HEIGHT, title=title),
        f"Line chart of the rate of {own.workload} after a switch, a line for each configuration; "
        "the table below has the washouts.",
        "Line: mean of the pilot's curves, relative to the last third. Band: 90 % interval. "
        "Dashed: washout, after which windows begin.",
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
                    "change": _percent(sum(p.log_ratio for p in points) / len(points)),
                    **_band([point.interval for point in points]),
                }
            )
    return rows


def _band(intervals: list[Span]) -> dict[str, float]:
    """Return the mean ends: a wider band than that of the averaged points."""
    low = sum(each.low for each in intervals) / len(intervals)
    high = sum(each.high for each in intervals) / len(intervals)
    return {"low": _percent(low), "high": _percent(high)}


def _percent(log_ratio: float) -> float:
    return float(f"{100 * math.expm1(log_ratio):.4g}")
